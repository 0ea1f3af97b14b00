import { useSyncExternalStore } from 'react'

export type Theme = 'auto' | 'light' | 'dark'

const KEY = 'ks.theme'
const ORDER: readonly Theme[] = ['auto', 'light', 'dark']
const listeners = new Set<() => void>()

/** Applies the stored theme before the first render. */
export function applyTheme(): void {
  const theme = themeNow()
  if (theme === 'auto') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme
}

export function useTheme(): { theme: Theme; next: () => void } {
  const theme = useSyncExternalStore(subscribe, themeNow)
  return { theme, next: () => setTheme(ORDER[(ORDER.indexOf(theme) + 1) % ORDER.length] ?? 'auto') }
}

export function setTheme(theme: Theme): void {
  localStorage.setItem(KEY, theme)
  applyTheme()
  for (const listener of listeners) listener()
}

function themeNow(): Theme {
  const stored = localStorage.getItem(KEY)
  return stored === 'light' || stored === 'dark' ? stored : 'auto'
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
