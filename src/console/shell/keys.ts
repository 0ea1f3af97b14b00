import { useEffect, useRef } from 'react'
import { PAGES } from '../pages.js'
import { address, go } from '../router.js'

/** how long after `g` the key of a page may come */
const SECOND_KEY_MS = 1500

/** Ctrl-K or ⌘K for the palette, `g` and a letter for a page, `?` for all keys. Keys that are typed into a field are its own. */
export function useShortcuts(on: { palette: () => void; help: () => void }): void {
  const open = useRef(on)
  open.current = on
  useEffect(() => {
    let goUntil = 0
    const onKey = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault()
        open.current.palette()
        return
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isField(event.target)) return
      if (goUntil > event.timeStamp) {
        goUntil = 0
        const page = PAGES.find(({ key }) => key === event.key)
        if (page === undefined) return
        event.preventDefault()
        go(address(page.id))
      } else if (event.key === '?') open.current.help()
      else if (event.key === 'g') goUntil = event.timeStamp + SECOND_KEY_MS
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
}

function isField(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target.closest('input, textarea, select, dialog') !== null)
  )
}
