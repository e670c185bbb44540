// What tsc does not see: hooks that are not called in turn, a list of dependencies that
// has fallen behind, a line that nobody reads to its end.
import { defineConfig } from 'eslint/config'
import hooks from 'eslint-plugin-react-hooks'
import { configs } from 'typescript-eslint'

export default defineConfig([
  { ignores: ['dist', 'src/api/types.ts'] },
  {
    files: ['src/**/*.{ts,tsx}', 'vite.config.ts', 'eslint.config.js'],
    extends: [configs.recommended, hooks.configs.flat.recommended],
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      'react-hooks/exhaustive-deps': 'error',
      'max-len': ['error', { code: 160, ignoreRegExpLiterals: true }],
      // What React's compiler needs, which does not build this page: lists here hold their
      // place in objects of their own, and a clock is read where its time is shown.
      'react-hooks/immutability': 'off',
      'react-hooks/purity': 'off',
      'react-hooks/refs': 'off',
      'react-hooks/set-state-in-effect': 'off',
    },
  },
])
