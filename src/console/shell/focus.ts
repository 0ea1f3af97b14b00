import { useEffect } from 'react'

const PRESSED = 'a[href], button:not(:disabled), [tabindex="0"]'
const TYPED = 'input:not(:disabled), select:not(:disabled), textarea:not(:disabled)'

interface Step {
  parent: Element
  /** index of the child that contains the focused element */
  at: number
}

/**
 * Moves the focus when the focused element disappears: a deleted row, a form that is replaced by its result. The
 * keyboard continues next to it; the browser would start at the top of the page.
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
        // the user left it on purpose, with a click elsewhere
        last = undefined
        return
      }
      // a closing dialog restores the focus itself
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

/** Steps from an element up to `#content`. */
function wayTo(element: Element): Step[] {
  const way: Step[] = []
  let child = element
  for (let parent = child.parentElement; parent !== null && parent.id !== 'content'; parent = child.parentElement) {
    way.push({ parent, at: [...parent.children].indexOf(child) })
    child = parent
  }
  return way
}

/** Finds the focusable element at the same index, else before it, else around it. */
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
  // a field outside dialogs would swallow the page's shortcut keys; in a dialog the next field is expected
  const wanted = place.closest('dialog') === null ? PRESSED : `${PRESSED}, ${TYPED}`
  const all = place.matches(wanted) ? [place] : [...place.querySelectorAll(wanted)]
  return all.find((one): one is HTMLElement => one instanceof HTMLElement && isShown(one))
}
