/**
 * Lets schemas of the protocol be made when they are first used. The SDK of MCP makes some four hundred as it loads, of
 * which a session needs a few dozen; making one takes as long as parsing with it a thousand times.
 *
 * Works on a finished CommonJS chunk, in which names are told apart already: each constant `…Schema` becomes a function
 * that makes it once, and each use a call of it.
 */

/** a constant that holds a schema: the name that the SDK gives it, with what a bundler adds to tell it from others */
const SCHEMA = /Schema(?:\$\d+)?$/
/** A module or function that declares this many is one that does little else. */
const MANY = 50
/** fills tables of all schemas for a function of the SDK that nothing here uses */
const REGISTER =
  /^(?:for \(const key of SPEC_SCHEMA_KEYS\)|for \(const \[key, schema\] of Object\.entries\(authSchemas\)\)) register\(.*\);$/gm

export const lazySchemas = {
  name: 'lazy-schemas',
  /** @param {string} code */
  renderChunk(code) {
    if (!code.includes('SPEC_SCHEMA_KEYS')) return undefined
    const text = code.replace(REGISTER, '')
    const edits = []
    const names = new Set()
    const program = this.parse(text)
    for (const list of declarationsOfMany(program)) for (const one of list) names.add(one.id.name)
    walk(program, [], (node, above) => edit(node, above, names, edits))
    edits.sort((a, b) => b.start - a.start)
    let changed = text
    for (const { start, end, by } of edits) changed = changed.slice(0, start) + by + changed.slice(end)
    const strict = /^"use strict";\s*/.exec(changed)?.[0] ?? ''
    const once = 'const once$ = (make) => { let made; return () => (made ??= make()) };'
    return { code: `${strict}${once} ${changed.slice(strict.length)}`, map: null }
  },
}

/** Lists of declarations of schemas, of the chunk and of functions in it. */
function declarationsOfMany(program) {
  const lists = []
  walk(program, [], (node) => {
    if (node.type !== 'Program' && node.type !== 'BlockStatement') return
    const found = node.body
      .flatMap((one) => (one.type === 'VariableDeclaration' ? one.declarations : []))
      .filter(isSchema)
    if (found.length >= MANY) lists.push(found)
  })
  return lists
}

function isSchema({ id, init }) {
  return id.type === 'Identifier' && SCHEMA.test(id.name) && init?.type === 'CallExpression'
}

function edit(node, [parent, ...above], names, edits) {
  if (node.type === 'VariableDeclarator' && names.has(node.id.name)) {
    edits.push({ start: node.id.start, end: node.init.start, by: `${node.id.name} = once$(() => ` })
    edits.push({ start: node.end, end: node.end, by: ')' })
  }
  if (node.type === 'Property') editProperty(node, above[0], names, edits)
  if (node.type !== 'Identifier' || !names.has(node.name)) return
  if (parent.type === 'VariableDeclarator' && parent.id === node) return
  if (parent.type === 'Property' && (parent.key === node || isRead(parent.value, names))) return
  if (parent.type === 'MemberExpression' && parent.property === node && !parent.computed) return
  edits.push({ start: node.end, end: node.end, by: '()' })
}

/** A shape is read at once; a table has its schemas made one by one. */
function editProperty({ start, end, key, value }, holder, names, edits) {
  const name = key.name ?? JSON.stringify(key.value)
  const isShape = holder?.type === 'CallExpression'
  if (isRead(value, names)) {
    const read = value.type === 'Identifier' ? `${value.name}()` : `s.${value.property.name}`
    edits.push({ start, end, by: isShape ? `${name}: ${read}` : `get ${name}() { return ${read} }` })
  } else if (!isShape && SCHEMA.test(name) && value.type === 'CallExpression') {
    edits.push({ start, end: value.start, by: `get ${name}() { const value = ` })
    edits.push({
      start: end,
      end,
      by: `; Object.defineProperty(this, ${JSON.stringify(name)}, { value }); return value }`,
    })
  }
}

/** A schema by its name, or one of a table of them. */
function isRead(value, names) {
  if (value.type === 'Identifier') return names.has(value.name)
  return value.type === 'MemberExpression' && value.object.name === 's' && SCHEMA.test(value.property.name ?? '')
}

/** @param {object[]} above the nodes around it, the nearest first */
function walk(node, above, visit) {
  visit(node, above)
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) {
      if (typeof child?.type === 'string') walk(child, [node, ...above.slice(0, 2)], visit)
    }
  }
}
