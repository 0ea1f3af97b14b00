import type { WriteStream } from 'node:tty'
import type { OutStream } from './output.js'
import { ttyStyled } from './terminal.js'

/**
 * All output to terminals. `guardTerminal` replaces `write` of stdout and stderr, so that all code of the process,
 * including libraries, writes text only: control characters become visible, only colours and weights pass. Our own
 * cursor sequences use `writeControls`, `createFrameStream` or `createLineStream`. Pipes and files get raw bytes.
 */

type Write = (...args: unknown[]) => boolean

/** The original `write` of guarded streams. */
const originals = new WeakMap<object, Write>()
const guards = new WeakSet<object>()

/** Guards stdout and stderr if they are terminals; call it before the first output. */
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
    return original(ttyStyled(text), ...rest.filter((argument) => typeof argument === 'function'))
  }
  originals.set(stream, original)
  guards.add(guarded)
  Object.defineProperty(stream, 'write', { value: guarded, configurable: true, writable: true })
}

/** Writes text to a stream. Code of `ks` and `kchat` calls this instead of `stream.write`. */
export function writeTo(stream: OutStream, text: string): boolean {
  return stream.write(text)
}

export function writeOut(chunk: string | Uint8Array): boolean {
  const out: NodeJS.WritableStream = process.stdout
  return out.write(chunk)
}

export function writeErr(text: string): boolean {
  return writeTo(process.stderr, text)
}

/** Writes our own sequences that move the cursor or switch a terminal mode; never untrusted text. */
export function writeControls(stream: OutStream, sequences: string): void {
  const original = originals.get(stream)
  if (original === undefined) stream.write(sequences)
  else original(sequences)
}

/** Cursor movement, erasing, and modes: cursor visibility, alternate screen, bracketed paste, synchronized output. */
const CONTROL = '\\u001b\\[(?:\\d*(?:;\\d*)?[A-HJKf]|\\?(?:25|1049|2004|2026)[hl])'
const FRAME = new RegExp(`^((?:${CONTROL})*)([\\s\\S]*?)((?:${CONTROL})*)$`)

/**
 * A terminal stream for a library that draws views. Cursor sequences pass at the start and end of a write; the text
 * between them is escaped.
 */
export function createFrameStream(stream: WriteStream): WriteStream {
  return withWrite(stream, (text) => {
    const [, prefix = '', body = '', suffix = ''] = FRAME.exec(text) ?? [text, '', text]
    return prefix + ttyStyled(body) + suffix
  })
}

/** An unguarded terminal stream for a library that edits a line: it echoes what the user types. */
export function createLineStream(stream: WriteStream): WriteStream {
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
