import { useCallback, useSyncExternalStore } from 'react'

/** useMedia follows a media query: what is not drawn in a narrow window is not read there either. */
export function useMedia(query: string): boolean {
  const listen = useCallback((changed: () => void) => {
    const media = window.matchMedia(query)
    media.addEventListener('change', changed)
    return () => media.removeEventListener('change', changed)
  }, [query])
  return useSyncExternalStore(listen, () => window.matchMedia(query).matches)
}
