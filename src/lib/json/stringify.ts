import { setImmediate as nextTick } from 'node:timers/promises'

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
  return subtractCost(value, sliceUnits) < 0
}

/** `units` less the cost of a value; stops at the first negative result. */
function subtractCost(value: unknown, units: number): number {
  let remaining = units - VALUE_UNITS
  if (typeof value === 'string') return remaining - value.length
  if (typeof value !== 'object' || value === null || hasToJson(value)) return remaining
  if (Array.isArray(value)) {
    for (const member of value) {
      remaining = subtractCost(member, remaining)
      if (remaining < 0) return remaining
    }
    return remaining
  }
  for (const key in value) {
    remaining = subtractCost((value as Record<string, unknown>)[key], remaining - key.length)
    if (remaining < 0) return remaining
  }
  return remaining
}

function hasToJson(value: object): boolean {
  return 'toJSON' in value && typeof value.toJSON === 'function'
}

/** `JSON.stringify` of plain data as UTF-8. Other work runs between its slices. */
export async function stringifyInSlices(value: unknown, slicing: StringifySlicing = {}): Promise<Uint8Array> {
  const { sliceUnits = SLICE_UNITS, pause = () => nextTick() } = slicing
  const parts: Buffer[] = []
  let totalBytes = 0
  let pending = ''
  const flush = async () => {
    const part = Buffer.from(pending)
    pending = ''
    parts.push(part)
    totalBytes += part.length
    await pause()
  }
  for (const piece of stringifyPieces(value, sliceUnits)) {
    pending += piece
    if (pending.length >= sliceUnits) await flush()
  }
  await flush()
  const result = Buffer.allocUnsafeSlow(totalBytes)
  let offset = 0
  for (const part of parts) {
    offset += part.copy(result, offset)
    await pause()
  }
  return result
}

function* stringifyPieces(value: unknown, maxUnits: number): Iterable<string> {
  if (!isLongJson(value, maxUnits)) yield JSON.stringify(value)
  else if (typeof value === 'string') yield* stringifyText(value, maxUnits)
  else if (Array.isArray(value)) {
    let separator = '['
    for (const member of value) {
      yield separator
      if (isSerializable(member)) yield* stringifyPieces(member, maxUnits)
      else yield 'null'
      separator = ','
    }
    yield separator === '[' ? '[]' : ']'
  } else {
    let separator = '{'
    for (const [key, member] of Object.entries(value as object)) {
      if (!isSerializable(member)) continue
      yield `${separator}${JSON.stringify(key)}:`
      yield* stringifyPieces(member, maxUnits)
      separator = ','
    }
    yield separator === '{' ? '{}' : '}'
  }
}

/** Whether JSON can represent a value. Other members of objects are omitted. */
function isSerializable(value: unknown): boolean {
  return value !== undefined && typeof value !== 'function' && typeof value !== 'symbol'
}

/** Writes a long text in pieces. No piece ends within a surrogate pair. */
function* stringifyText(text: string, maxUnits: number): Iterable<string> {
  yield '"'
  for (let start = 0; start < text.length; ) {
    let end = Math.min(text.length, start + maxUnits)
    const last = text.charCodeAt(end - 1)
    if (end < text.length && last >= 0xd800 && last <= 0xdbff) end++
    yield JSON.stringify(text.slice(start, end)).slice(1, -1)
    start = end
  }
  yield '"'
}
