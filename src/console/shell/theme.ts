import { useSyncExternalStore } from 'react'

export type Theme = 'auto' | 'light' | 'dark'

const KEY = 'ks.theme'
const THEME_CYCLE: readonly Theme[] = ['auto', 'light', 'dark']
const listeners = new Set<() => void>()

/** Applies the stored theme before the first render. */
export function applyTheme(): void {
  const theme = storedTheme()
  if (theme === 'auto') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme
}

export function useTheme(): { theme: Theme; cycle: () => void } {
  const theme = useSyncExternalStore(subscribe, storedTheme)
  return { theme, cycle: () => setTheme(THEME_CYCLE[(THEME_CYCLE.indexOf(theme) + 1) % THEME_CYCLE.length] ?? 'auto') }
}

export function setTheme(theme: Theme): void {
  localStorage.setItem(KEY, theme)
  applyTheme()
  for (const listener of listeners) listener()
}

function storedTheme(): Theme {
  const stored = localStorage.getItem(KEY)
  return stored === 'light' || stored === 'dark' ? stored : 'auto'
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
