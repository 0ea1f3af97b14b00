import { useSyncExternalStore } from 'react'
import type { Tone } from './state.js'

interface Said {
  id: number
  tone: Tone
  text: string
}

const SHOWN_MS = 6_000
let said: readonly Said[] = []
let next = 1
const listeners = new Set<() => void>()

/** Shows a message at the edge of the page for 6 s, and announces it to screen readers. */
export function say(text: string, tone: Tone = 'good'): void {
  const id = next++
  change([...said, { id, tone, text }].slice(-3))
  setTimeout(() => change(said.filter((one) => one.id !== id)), SHOWN_MS)
}

export function Toasts() {
  const shown = useSyncExternalStore(subscribe, () => said)
  return (
    <div className="toasts" role="status" aria-live="polite">
      {shown.map(({ id, tone, text }) => (
        <p key={id} className={`toast toast-${tone}`}>
          {text}
        </p>
      ))}
    </div>
  )
}

function change(to: readonly Said[]): void {
  said = to
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
