import { useEffect } from 'react'

const ACTIVATABLE = 'a[href], button:not(:disabled), [tabindex="0"]'
const EDITABLE = 'input:not(:disabled), select:not(:disabled), textarea:not(:disabled)'

interface FocusStep {
  parent: Element
  /** index of the child that contains the focused element */
  index: number
}

/**
 * Moves the focus when the focused element disappears: a deleted row, a form that is replaced by its result. The
 * keyboard continues next to it; the browser would start at the top of the page.
 */
export function useRestoredFocus(): void {
  useEffect(() => {
    let lastFocused: Element | undefined
    let path: readonly FocusStep[] = []
    const onFocus = ({ target }: FocusEvent) => {
      if (!(target instanceof Element)) return
      lastFocused = target
      path = getPath(target)
    }
    const restoreFocus = () => {
      const hasFocus = document.activeElement !== null && document.activeElement !== document.body
      if (lastFocused === undefined || hasFocus) return
      if (isShown(lastFocused)) {
        // the user clicked on something that takes no focus
        lastFocused = undefined
        return
      }
      // a closing dialog restores the focus itself
      if (lastFocused.closest('dialog') !== null && lastFocused.isConnected) return
      const next = findNearest(path)
      lastFocused = undefined
      if (next === undefined) document.getElementById('content')?.focus({ preventScroll: true })
      else next.focus()
    }
    const scheduleRestore = () => void setTimeout(restoreFocus)
    const observer = new MutationObserver(scheduleRestore)
    observer.observe(document.body, { childList: true, subtree: true })
    document.addEventListener('focusin', onFocus)
    document.addEventListener('focusout', scheduleRestore)
    return () => {
      observer.disconnect()
      document.removeEventListener('focusin', onFocus)
      document.removeEventListener('focusout', scheduleRestore)
    }
  }, [])
}

function isShown(element: Element): boolean {
  return element.isConnected && element.checkVisibility()
}

/** Steps from an element up to `#content`. */
function getPath(element: Element): FocusStep[] {
  const path: FocusStep[] = []
  let child = element
  for (let parent = child.parentElement; parent !== null && parent.id !== 'content'; parent = child.parentElement) {
    path.push({ parent, index: [...parent.children].indexOf(child) })
    child = parent
  }
  return path
}

/** Finds the focusable element at the same index, else before it, else around it. */
function findNearest(path: readonly FocusStep[]): HTMLElement | undefined {
  for (const { parent, index } of path) {
    if (!isShown(parent)) continue
    for (const candidate of [parent.children[index], parent.children[index - 1], parent]) {
      const focusable = candidate === undefined ? undefined : findFocusable(candidate)
      if (focusable !== undefined) return focusable
    }
  }
  return undefined
}

function findFocusable(container: Element): HTMLElement | undefined {
  // a field outside dialogs would swallow the page's shortcut keys; in a dialog the next field is expected
  const selector = container.closest('dialog') === null ? ACTIVATABLE : `${ACTIVATABLE}, ${EDITABLE}`
  const elements = container.matches(selector) ? [container] : [...container.querySelectorAll(selector)]
  return elements.find((element): element is HTMLElement => element instanceof HTMLElement && isShown(element))
}
