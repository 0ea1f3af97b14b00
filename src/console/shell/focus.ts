import { useEffect } from 'react'

const PRESSED = 'a[href], button:not(:disabled), [tabindex="0"]'
const TYPED = 'input:not(:disabled), select:not(:disabled), textarea:not(:disabled)'

interface Step {
  parent: Element
  /** which of its children led to what had the focus */
  at: number
}

/**
 * What has the focus may go away: a row that was deleted, a form that gave way to what it made. The keyboard then goes on
 * beside it, where the browser would begin at the top of the page.
 */
export function useKeptFocus(): void {
  useEffect(() => {
    let last: Element | undefined
    let way: readonly Step[] = []
    const onFocus = ({ target }: FocusEvent) => {
      if (!(target instanceof Element)) return
      last = target
      way = wayTo(target)
    }
    const look = () => {
      if (last === undefined || !isFree()) return
      if (isShown(last)) {
        // it was left on purpose, by a click beside it
        last = undefined
        return
      }
      // the frame of a window over the page gives the focus back itself
      if (last.closest('dialog') !== null && last.isConnected) return
      const next = nearest(way)
      last = undefined
      if (next === undefined) document.getElementById('content')?.focus({ preventScroll: true })
      else next.focus()
    }
    const lookSoon = () => void setTimeout(look)
    const observer = new MutationObserver(lookSoon)
    observer.observe(document.body, { childList: true, subtree: true })
    document.addEventListener('focusin', onFocus)
    document.addEventListener('focusout', lookSoon)
    return () => {
      observer.disconnect()
      document.removeEventListener('focusin', onFocus)
      document.removeEventListener('focusout', lookSoon)
    }
  }, [])
}

function isFree(): boolean {
  return document.activeElement === null || document.activeElement === document.body
}

function isShown(element: Element): boolean {
  return element.isConnected && element.checkVisibility()
}

/** From an element outwards to the page. */
function wayTo(element: Element): Step[] {
  const way: Step[] = []
  let child = element
  for (let parent = child.parentElement; parent !== null && parent.id !== 'content'; parent = child.parentElement) {
    way.push({ parent, at: [...parent.children].indexOf(child) })
    child = parent
  }
  return way
}

/** What can be used in the place of what went, else before it, else about it. */
function nearest(way: readonly Step[]): HTMLElement | undefined {
  for (const { parent, at } of way) {
    if (!isShown(parent)) continue
    for (const place of [parent.children[at], parent.children[at - 1], parent]) {
      const found = place === undefined ? undefined : firstIn(place)
      if (found !== undefined) return found
    }
  }
  return undefined
}

function firstIn(place: Element): HTMLElement | undefined {
  // a field of the page would swallow the keys of the page; one of a form is what comes next
  const wanted = place.closest('dialog') === null ? PRESSED : `${PRESSED}, ${TYPED}`
  const all = place.matches(wanted) ? [place] : [...place.querySelectorAll(wanted)]
  return all.find((one): one is HTMLElement => one instanceof HTMLElement && isShown(one))
}
