import { useSyncExternalStore } from 'react'
import { messageOf } from '../api/client.js'
import { createListeners } from '../api/listeners.js'
import type { Tone } from './state.js'

interface ToastMessage {
  id: number
  tone: Tone
  text: string
}

const TOAST_DURATION_MS = 6_000
const MAX_TOASTS = 3
const listeners = createListeners()
let messages: readonly ToastMessage[] = []
let nextId = 1

/** Shows a message at the edge of the page for 6 s, and announces it to screen readers. */
export function showToast(text: string, tone: Tone = 'good'): void {
  const id = nextId++
  setMessages([...messages, { id, tone, text }].slice(-MAX_TOASTS))
  setTimeout(() => setMessages(messages.filter((message) => message.id !== id)), TOAST_DURATION_MS)
}

export function showError(error: unknown): void {
  showToast(messageOf(error), 'bad')
}

export function Toasts() {
  const current = useSyncExternalStore(listeners.subscribe, () => messages)
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
  listeners.notify()
}
