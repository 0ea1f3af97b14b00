import { useEffect, useRef } from 'react'
import { PAGES } from '../pages.js'
import { navigate, pageHref } from '../router.js'

/** How long after `g` the key of a page is accepted. */
const SECOND_KEY_MS = 1500

/**
 * Shortcuts: Ctrl-K or ⌘K opens the palette, `g` and a letter a page, `?` the help. Keys typed into a field are
 * ignored.
 */
export function useShortcuts(handlers: { openPalette: () => void; openHelp: () => void }): void {
  const latestHandlers = useRef(handlers)
  latestHandlers.current = handlers
  useEffect(() => {
    /** `event.timeStamp` until which a letter opens a page */
    let pageKeyUntil = 0
    const onKeyDown = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault()
        latestHandlers.current.openPalette()
        return
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isField(event.target)) return
      if (pageKeyUntil > event.timeStamp) {
        pageKeyUntil = 0
        const page = PAGES.find(({ key }) => key === event.key)
        if (page === undefined) return
        event.preventDefault()
        navigate(pageHref(page.id))
      } else if (event.key === '?') latestHandlers.current.openHelp()
      else if (event.key === 'g') pageKeyUntil = event.timeStamp + SECOND_KEY_MS
    }
    addEventListener('keydown', onKeyDown)
    return () => removeEventListener('keydown', onKeyDown)
  }, [])
}

function isField(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target.closest('input, textarea, select, dialog') !== null)
  )
}
