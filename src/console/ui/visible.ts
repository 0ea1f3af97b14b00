import { type RefObject, useEffect, useRef, useState } from 'react'

/** Whether an element has come within 200 px of the viewport; stays true, so that its content loads once. */
export function useVisible<E extends Element>(): [RefObject<E | null>, boolean] {
  const element = useRef<E>(null)
  const [isSeen, setSeen] = useState(false)
  useEffect(() => {
    const { current } = element
    if (current === null || isSeen) return
    const observer = new IntersectionObserver(
      (entries) => entries.some(({ isIntersecting }) => isIntersecting) && setSeen(true),
      { rootMargin: '200px' },
    )
    observer.observe(current)
    return () => observer.disconnect()
  }, [isSeen])
  return [element, isSeen]
}
