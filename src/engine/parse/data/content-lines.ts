/** Content lines of calendars and cards (RFC 5545 3.1, RFC 6350 3.2). */

export interface ContentLine {
  name: string
  /** parameters by name in capitals; values are unchanged */
  parameters: ReadonlyMap<string, string>
  value: string
}

/** Longer values are pictures and keys, not text. */
const MAX_VALUE = 100_000

/** Reads the content lines of a text, with folded lines joined. Skips lines that are none. */
export function* contentLines(text: string): Generator<ContentLine> {
  let held: string[] = []
  let quoted = false
  let start = 0
  while (start <= text.length) {
    const found = text.indexOf('\n', start)
    const end = found === -1 ? text.length : found
    const line = text.slice(start, text.charCodeAt(end - 1) === 13 ? end - 1 : end)
    start = end + 1
    const continues = held.length > 0 && (/^[ \t]/.test(line) || quoted)
    if (!continues && held.length > 0) {
      const read = readLine(held.join(''))
      if (read !== undefined) yield read
      held = []
    }
    // Old cards end a continued line with `=`, as quoted-printable does.
    held.push(continues && !quoted ? line.slice(1) : line)
    quoted = line.endsWith('=') && (quoted || /;(?:ENCODING=)?QUOTED-PRINTABLE[:;]/i.test(line))
  }
  const last = readLine(held.join(''))
  if (last !== undefined) yield last
}

function readLine(line: string): ContentLine | undefined {
  const colon = endOfHead(line)
  if (colon <= 0 || line.length - colon > MAX_VALUE) return undefined
  const [name = '', ...rest] = line.slice(0, colon).split(';')
  const parameters = new Map<string, string>()
  for (const part of rest.slice(0, 50)) {
    const equals = part.indexOf('=')
    // The first versions of cards give a type without a name.
    const key = equals === -1 ? 'TYPE' : part.slice(0, equals).toUpperCase()
    const own = part.slice(equals + 1).replace(/^"|"$/g, '')
    parameters.set(key, parameters.has(key) ? `${parameters.get(key)},${own}` : own)
  }
  const raw = line.slice(colon + 1)
  const coded =
    /^quoted-printable$/i.test(parameters.get('ENCODING') ?? '') ||
    /quoted-printable/i.test(parameters.get('TYPE') ?? '')
  // a card may group its lines: `item1.TEL`
  return {
    name: name
      .slice(name.lastIndexOf('.') + 1)
      .trim()
      .toUpperCase(),
    parameters,
    value: coded ? decoded(raw) : raw,
  }
}

/** Offset of the colon before the value; colons in quotes are part of a parameter. */
function endOfHead(line: string): number {
  let quoted = false
  for (let at = 0; at < Math.min(line.length, 4000); at++) {
    const char = line.charAt(at)
    if (char === '"') quoted = !quoted
    else if (char === ':' && !quoted) return at
  }
  return -1
}

function decoded(value: string): string {
  const bytes = value
    .replace(/=(?=$|[^0-9A-Fa-f])/g, '')
    .replace(/=([0-9A-Fa-f]{2})/g, (_whole, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1').toString('utf8')
}

/** Unescapes a value. */
export function textValue(value: string): string {
  return value.replace(/\\([\\;,nN])/g, (_whole, char: string) => (char === 'n' || char === 'N' ? '\n' : char)).trim()
}

/** The parts of a value with several, without empty ones. */
export function valueParts(value: string): string[] {
  return value
    .split(/(?<!\\)[;,]/)
    .map(textValue)
    .filter((part) => part !== '')
}
