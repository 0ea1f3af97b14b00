/** The prefix that office programs and the readers here use for a namespace; `''`: none. */
const USUAL_PREFIXES: readonly (readonly [namespace: RegExp, prefix: string])[] = [
  [/\/wordprocessingml\/(?:2006\/)?main$/, 'w'],
  [/\/presentationml\/(?:2006\/)?main$/, 'p'],
  [/\/spreadsheetml\/(?:2006\/)?main$/, ''],
  [/\/package\/2006\/(?:relationships|content-types)$/, ''],
  [/\/drawingml\/(?:2006\/)?main$/, 'a'],
  [/\/drawingml\/(?:2006\/)?chart$/, 'c'],
  [/\/drawingml\/(?:2006\/)?diagram$/, 'dgm'],
  [/\/drawingml\/(?:2006\/)?spreadsheetDrawing$/, 'xdr'],
  [/\/drawingml\/(?:2006\/)?wordprocessingDrawing$/, 'wp'],
  [/\/officeDocument\/(?:2006\/)?relationships$/, 'r'],
  [/\/officeDocument\/(?:2006\/)?math$/, 'm'],
  [/\/markup-compatibility\/2006$/, 'mc'],
  [/\/office\/word\/2010\/wordml$/, 'w14'],
  [/^urn:schemas-microsoft-com:vml$/, 'v'],
  [/^urn:schemas-microsoft-com:office:office$/, 'o'],
]
/** Namespaces are declared at the root, and some again in drawings. */
const MAX_DECLARATIONS = 2000

/**
 * Gives elements and attributes of the known namespaces their usual prefixes, where a program uses others. The readers
 * compare names with prefixes, and nearly all files have the usual ones.
 */
export function withUsualPrefixes(xml: string): string {
  const renamed = new Map<string, string>()
  let count = 0
  const declaration = /xmlns(?::([\w.-]{1,60}))?\s*=\s*["']([^"'<>]{1,200})["']/y
  for (
    let index = xml.indexOf('xmlns');
    index !== -1 && count < MAX_DECLARATIONS;
    index = xml.indexOf('xmlns', index + 5)
  ) {
    count++
    declaration.lastIndex = index
    const [, prefix = '', namespace = ''] = declaration.exec(xml) ?? []
    const usual = findUsualPrefix(namespace)
    if (usual !== undefined && usual !== prefix) renamed.set(prefix, usual)
  }
  if (renamed.size === 0) return xml
  const rename = (name: string, isAttribute: boolean): string => {
    const colon = name.indexOf(':')
    const prefix = colon < 0 ? '' : name.slice(0, colon)
    const usual = isAttribute && prefix === '' ? undefined : renamed.get(prefix)
    if (usual === undefined) return name
    return usual === '' ? name.slice(colon + 1) : `${usual}:${name.slice(colon + 1)}`
  }
  return xml.replace(/<(\/?)([\w.:-]{1,200})([^<>]*)>/g, (_tag, slash: string, name: string, rest: string) => {
    const attributes = rest.replace(
      /(\s)([\w.:-]{1,200})(\s*=\s*(?:"[^"]*"|'[^']*'))/g,
      (_attribute, space: string, key: string, value: string) => space + rename(key, true) + value,
    )
    return `<${slash}${rename(name, false)}${attributes}>`
  })
}

/** Files declare the same few namespaces in every part. */
const known = new Map<string, string | undefined>()
const MAX_KNOWN = 1000

function findUsualPrefix(namespace: string): string | undefined {
  if (known.has(namespace)) return known.get(namespace)
  const usual = USUAL_PREFIXES.find(([pattern]) => pattern.test(namespace))?.[1]
  if (known.size < MAX_KNOWN) known.set(namespace, usual)
  return usual
}
