import { useSyncExternalStore } from 'react'
import type { Tone } from './state.js'

interface ToastMessage {
  id: number
  tone: Tone
  text: string
}

const TOAST_DURATION_MS = 6_000
let messages: readonly ToastMessage[] = []
let next = 1
const listeners = new Set<() => void>()

/** Shows a message at the edge of the page for 6 s, and announces it to screen readers. */
export function showToast(text: string, tone: Tone = 'good'): void {
  const id = next++
  setMessages([...messages, { id, tone, text }].slice(-3))
  setTimeout(() => setMessages(messages.filter((message) => message.id !== id)), TOAST_DURATION_MS)
}

export function Toasts() {
  const current = useSyncExternalStore(subscribe, () => messages)
  return (
    <div className="toasts" role="status" aria-live="polite">
      {current.map(({ id, tone, text }) => (
        <p key={id} className={`toast toast-${tone}`}>
          {text}
        </p>
      ))}
    </div>
  )
}

function setMessages(value: readonly ToastMessage[]): void {
  messages = value
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
