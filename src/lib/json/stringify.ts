import { setImmediate as nextTurn } from 'node:timers/promises'

/** UTF-16 units that are written without a pause: some milliseconds. */
const SLICE_UNITS = 256 * 1024
/** Cost of a value in addition to its text, in UTF-16 units. */
const VALUE_UNITS = 8

export interface StringifySlicing {
  /** approximate UTF-16 units that are written without a pause */
  sliceUnits?: number
  /** yields to other work */
  pause?: () => Promise<unknown>
}

/** Whether `JSON.stringify` of a value takes long enough to need slices. */
export function isLongJson(value: unknown, sliceUnits = SLICE_UNITS): boolean {
  return left(value, sliceUnits) < 0
}

/** `units` less the cost of a value; stops at the first negative result. */
function left(value: unknown, units: number): number {
  let rest = units - VALUE_UNITS
  if (typeof value === 'string') return rest - value.length
  if (typeof value !== 'object' || value === null || hasOwnForm(value)) return rest
  if (Array.isArray(value)) {
    for (const member of value) {
      rest = left(member, rest)
      if (rest < 0) return rest
    }
    return rest
  }
  for (const key in value) {
    rest = left((value as Record<string, unknown>)[key], rest - key.length)
    if (rest < 0) return rest
  }
  return rest
}

function hasOwnForm(value: object): boolean {
  return 'toJSON' in value && typeof value.toJSON === 'function'
}

/** `JSON.stringify` of plain data as UTF-8. Other work runs between its slices. */
export async function stringifyInSlices(value: unknown, slicing: StringifySlicing = {}): Promise<Uint8Array> {
  const { sliceUnits = SLICE_UNITS, pause = () => nextTurn() } = slicing
  const parts: Buffer[] = []
  let total = 0
  let waiting = ''
  const flush = async () => {
    const part = Buffer.from(waiting)
    waiting = ''
    parts.push(part)
    total += part.length
    await pause()
  }
  for (const piece of pieces(value, sliceUnits)) {
    waiting += piece
    if (waiting.length >= sliceUnits) await flush()
  }
  await flush()
  const whole = Buffer.allocUnsafeSlow(total)
  let at = 0
  for (const part of parts) {
    at += part.copy(whole, at)
    await pause()
  }
  return whole
}

function* pieces(value: unknown, most: number): Iterable<string> {
  if (!isLongJson(value, most)) yield JSON.stringify(value)
  else if (typeof value === 'string') yield* piecesOfText(value, most)
  else if (Array.isArray(value)) {
    let before = '['
    for (const member of value) {
      yield before
      if (isWritten(member)) yield* pieces(member, most)
      else yield 'null'
      before = ','
    }
    yield before === '[' ? '[]' : ']'
  } else {
    let before = '{'
    for (const [key, member] of Object.entries(value as object)) {
      if (!isWritten(member)) continue
      yield `${before}${JSON.stringify(key)}:`
      yield* pieces(member, most)
      before = ','
    }
    yield before === '{' ? '{}' : '}'
  }
}

/** Whether JSON can represent a value. Other members of objects are omitted. */
function isWritten(value: unknown): boolean {
  return value !== undefined && typeof value !== 'function' && typeof value !== 'symbol'
}

/** Writes a long text in pieces. No piece ends within a surrogate pair. */
function* piecesOfText(text: string, most: number): Iterable<string> {
  yield '"'
  for (let at = 0; at < text.length; ) {
    let end = Math.min(text.length, at + most)
    const last = text.charCodeAt(end - 1)
    if (end < text.length && last >= 0xd800 && last <= 0xdbff) end++
    yield JSON.stringify(text.slice(at, end)).slice(1, -1)
    at = end
  }
  yield '"'
}
