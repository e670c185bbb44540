// The theme follows the system until a person picks one; the pick stays on this
// machine, in localStorage.
export type Theme = 'system' | 'light' | 'dark'

const key = 'lyceum-theme'

export function storedTheme(): Theme {
  const value = localStorage.getItem(key)
  return value === 'light' || value === 'dark' ? value : 'system'
}

export function applyTheme(theme: Theme = storedTheme()): void {
  if (theme === 'system') {
    localStorage.removeItem(key)
    delete document.documentElement.dataset.theme
  } else {
    localStorage.setItem(key, theme)
    document.documentElement.dataset.theme = theme
  }
}
