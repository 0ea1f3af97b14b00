import type { WriteStream } from 'node:tty'
import type { OutStream } from './output.js'
import { ttyStyled } from './terminal.js'

/**
 * The one way to the terminal. `guardTerminal` replaces `write` of stdout and stderr, so that every writer of the process,
 * libraries too, writes text alone: control characters become visible, only colours and weights pass. Sequences of our own
 * that do more take `writeControls`, `frameStream` or `lineStream`. A pipe or a file gets the bytes unchanged.
 */

type Write = (...args: unknown[]) => boolean

/** `write` of guarded streams as it was */
const originals = new WeakMap<object, Write>()
const guards = new WeakSet<object>()

/** Guards stdout and stderr where they are terminals, before anything is written. */
export function guardTerminals(): void {
  for (const stream of [process.stdout, process.stderr]) if (stream.isTTY === true) guardTerminal(stream)
}

function guardTerminal(stream: WriteStream): void {
  const { write } = stream
  if (guards.has(write)) return
  const original: Write = (...args) => Reflect.apply(write, stream, args)
  const decoder = new TextDecoder()
  const guarded: Write = (chunk, ...rest) => {
    const text = chunk instanceof Uint8Array ? decoder.decode(chunk, { stream: true }) : String(chunk)
    return original(ttyStyled(text), ...rest.filter((one) => typeof one === 'function'))
  }
  originals.set(stream, original)
  guards.add(guarded)
  Object.defineProperty(stream, 'write', { value: guarded, configurable: true, writable: true })
}

/** Writes text to a stream; all that is written by name of a stream takes this way. */
export function writeTo(stream: OutStream, text: string): boolean {
  return stream.write(text)
}

export function writeOut(text: string): boolean {
  return writeTo(process.stdout, text)
}

export function writeErr(text: string): boolean {
  return writeTo(process.stderr, text)
}

/** Writes sequences of our own that move the cursor or switch a mode of the terminal. They contain no text of others. */
export function writeControls(stream: OutStream, sequences: string): void {
  const original = originals.get(stream)
  if (original === undefined) stream.write(sequences)
  else original(sequences)
}

/** cursor, erasing, and modes: cursor visible, other screen, marked pastes, synchronized output */
const CONTROL = '\\u001b\\[(?:\\d*(?:;\\d*)?[A-HJKf]|\\?(?:25|1049|2004|2026)[hl])'
const FRAME = new RegExp(`^((?:${CONTROL})*)([\\s\\S]*?)((?:${CONTROL})*)$`)

/**
 * A terminal for a library that draws views: sequences that move the cursor pass at the beginning and at the end of what it
 * writes, between them is text.
 */
export function frameStream(stream: WriteStream): WriteStream {
  return withWrite(stream, (text) => {
    const [, before = '', body = '', after = ''] = FRAME.exec(text) ?? [text, '', text]
    return before + ttyStyled(body) + after
  })
}

/** A terminal for a library that edits a line: it echoes what the person types. */
export function lineStream(stream: WriteStream): WriteStream {
  return withWrite(stream, (text) => text)
}

function withWrite(stream: WriteStream, filter: (text: string) => string): WriteStream {
  const write = (chunk: unknown, ...rest: unknown[]) =>
    (originals.get(stream) ?? ((...args) => Reflect.apply(stream.write, stream, args)))(filter(String(chunk)), ...rest)
  return new Proxy(stream, {
    get(target, name) {
      if (name === 'write') return write
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
