/**
 * Returns the selected theme and whether the system's theme is dark, such as `lighttrue`. Canvas and WebGL pictures
 * contain colour values instead of CSS names: they are drawn again when the key changes.
 */
export function getThemeKey(): string {
  return `${document.documentElement.dataset.theme ?? ''}${matchMedia('(prefers-color-scheme: dark)').matches}`
}

export function subscribeToTheme(listener: () => void): () => void {
  const observer = new MutationObserver(listener)
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] })
  const scheme = matchMedia('(prefers-color-scheme: dark)')
  scheme.addEventListener('change', listener)
  return () => {
    observer.disconnect()
    scheme.removeEventListener('change', listener)
  }
}

/**
 * Resolves a theme colour to a value for a canvas. Uses a new element each time: an existing one may be in a
 * transition.
 */
export function resolveColour(parent: HTMLElement, name: string): string {
  const probe = document.createElement('span')
  probe.style.color = `var(${name})`
  parent.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}
