import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

// Browsers that can run this page read woff2; the other formats that KaTeX names
// would only make the binary larger.
function onlyWoff2(): Plugin {
  return {
    name: 'only-woff2',
    enforce: 'pre',
    transform(code, id) {
      if (!id.includes('katex') || !id.endsWith('.css')) return null
      return code.replace(/,\s*url\([^)]*\.(?:woff|ttf)\)\s*format\([^)]*\)/g, '')
    },
  }
}

// The server sends the policy; that styles come from files alone is said here as well,
// because what the page is built of decides whether it can hold. Vite's own server
// could not work under it.
function policy(): Plugin {
  const content = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    "connect-src 'self'",
    "font-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ')
  return {
    name: 'content-security-policy',
    apply: 'build',
    transformIndexHtml: () => [{ tag: 'meta', attrs: { 'http-equiv': 'Content-Security-Policy', content }, injectTo: 'head-prepend' }],
  }
}

// In a browser this package asks the document what a name of a character means. A worker
// has none; the form for it holds the names.
function namesInWorkers(): Plugin {
  return {
    name: 'names-in-workers',
    enforce: 'pre',
    resolveId(id) {
      return id === 'decode-named-character-reference' ? fileURLToPath(new URL('node_modules/decode-named-character-reference/index.js',
        import.meta.url)) : null
    },
  }
}

export default defineConfig({
  base: './',
  worker: { format: 'es', plugins: () => [namesInWorkers()] },
  plugins: [onlyWoff2(), policy(), react()],
  // npm run dev stands in front of a running lyceum serve; it has no cookie, so it needs the token.
  server: {
    port: 7421,
    proxy: {
      '/api': {
        target: process.env.LYCEUM_API ?? 'http://127.0.0.1:7420',
        changeOrigin: true,
        headers: { Authorization: `Bearer ${process.env.LYCEUM_TOKEN ?? ''}` },
      },
    },
  },
  build: {
    target: 'es2022',
    // A data: address would need a wider Content-Security-Policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: true,
  },
})
