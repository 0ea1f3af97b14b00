import { useSyncExternalStore } from 'react'
import { createListeners } from '../api/listeners.js'
import type { IconName } from '../ui/icon.js'

interface Theme {
  id: 'auto' | 'light' | 'dark'
  title: string
  icon: IconName
}

const STORAGE_KEY = 'ks.theme'
const SYSTEM_THEME: Theme = { id: 'auto', title: 'System theme', icon: 'auto' }
/** All themes, in the order in which the button of the navigation switches them. */
export const THEMES: readonly Theme[] = [
  SYSTEM_THEME,
  { id: 'light', title: 'Light theme', icon: 'sun' },
  { id: 'dark', title: 'Dark theme', icon: 'moon' },
]
const listeners = createListeners()

/** Applies the stored theme to the page. */
export function applyTheme(): void {
  const { id } = loadTheme()
  if (id === 'auto') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = id
}

export function useTheme(): { theme: Theme; switchTheme: () => void } {
  const theme = useSyncExternalStore(listeners.subscribe, loadTheme)
  const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? SYSTEM_THEME
  return { theme, switchTheme: () => setTheme(next.id) }
}

export function setTheme(id: Theme['id']): void {
  localStorage.setItem(STORAGE_KEY, id)
  applyTheme()
  listeners.notify()
}

function loadTheme(): Theme {
  const storedId = localStorage.getItem(STORAGE_KEY)
  return THEMES.find(({ id }) => id === storedId) ?? SYSTEM_THEME
}
