import { type RefObject, useEffect, useRef, useState } from 'react'

/** Whether an element has come near the part of the page that is looked at: what it shows is read from then on. */
export function useVisible<E extends Element>(): [RefObject<E | null>, boolean] {
  const element = useRef<E>(null)
  const [seen, setSeen] = useState(false)
  useEffect(() => {
    const { current } = element
    if (current === null || seen) return
    const observer = new IntersectionObserver(
      (entries) => entries.some(({ isIntersecting }) => isIntersecting) && setSeen(true),
      { rootMargin: '200px' },
    )
    observer.observe(current)
    return () => observer.disconnect()
  }, [seen])
  return [element, seen]
}
