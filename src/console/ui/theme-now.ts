/** What the page looks like now, for pictures that take colours and not names of them: it changes when they must be drawn anew. */
export function themeNow(): string {
  return `${document.documentElement.dataset.theme ?? ''}${matchMedia('(prefers-color-scheme: dark)').matches}`
}

export function onTheme(listener: () => void): () => void {
  const observer = new MutationObserver(listener)
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] })
  const scheme = matchMedia('(prefers-color-scheme: dark)')
  scheme.addEventListener('change', listener)
  return () => {
    observer.disconnect()
    scheme.removeEventListener('change', listener)
  }
}

/** A colour of the theme as a canvas takes it. Each is read of an element of its own: one that changes may be on its way. */
export function colourIn(frame: HTMLElement, name: string): string {
  const probe = document.createElement('span')
  probe.style.color = `var(${name})`
  frame.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}
