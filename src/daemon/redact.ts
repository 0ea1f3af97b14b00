const MASK = '[secret]'
const SECRET_KEY = /token|secret|passw|authorization|api-?key|credential|cookie|signing-?key/i
/** Shorter values would mask ordinary words. */
const MIN_SECRET_CHARS = 8
const MAX_DEPTH = 6

/** Removes credentials from the log: by the name of their key, and by value anywhere. */
export interface Redactor {
  /** Registers a secret: no line returned by `line` contains it. */
  register(secret: string | undefined): void
  fields(fields: Record<string, unknown>): Record<string, unknown>
  line(text: string): string
}

export function createRedactor(): Redactor {
  const secrets = new Set<string>()
  return {
    register: (secret) => {
      if (secret === undefined || secret.length < MIN_SECRET_CHARS) return
      secrets.add(secret)
      secrets.add(JSON.stringify(secret).slice(1, -1)) // In its escaped form inside JSON.
    },
    fields: (fields) => maskKeys(fields, 0),
    line: (text) => {
      let safe = text
      for (const secret of secrets) if (safe.includes(secret)) safe = safe.replaceAll(secret, MASK)
      return safe
    },
  }
}

function maskKeys(fields: object, depth: number): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [key, SECRET_KEY.test(key) ? MASK : maskValue(value, depth)]),
  )
}

function maskValue(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null || depth >= MAX_DEPTH) return value
  if (value instanceof Error) return value
  return Array.isArray(value) ? value.map((item) => maskValue(item, depth + 1)) : maskKeys(value, depth + 1)
}
