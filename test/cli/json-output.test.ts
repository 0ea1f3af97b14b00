import { fileURLToPath } from 'node:url'
import { Config } from '@oclif/core/config'
import { describe, expect, it } from 'vitest'
import { COMMAND_OUTPUTS } from '../../src/cli/json-output/commands.js'
import { describeJsonOutput, describeReply } from '../../src/cli/json-output/describe.js'
import { readOutputFields } from '../../src/cli/json-output/fields.js'
import { allRoutes } from '../../src/contract/routes.js'
import { isRecord } from '../../src/lib/json/values.js'
import { checkJsonOutput, compileSchema } from '../helpers/json-output.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const ids = Object.keys(COMMAND_OUTPUTS).filter((id) => typeof COMMAND_OUTPUTS[id] !== 'string')

/** Values that any service or log may extend, by command and location. */
const OPEN = [
  'daemon:logs /anyOf/0/items',
  'daemon:logs /anyOf/1',
  'docs:show /$defs/OutlineNode/properties/titleLocation',
  'query /properties/metadata',
  'quickstart /properties/metadata',
]

describe('the schemas of JSON outputs', () => {
  it('exist for every command that has no reason to print none', async () => {
    const { commands } = await Config.load(root)
    const aliases = new Set(commands.flatMap((command) => command.aliases))
    const expected = commands.map(({ id }) => id).filter((id) => !aliases.has(id))
    expect(Object.keys(COMMAND_OUTPUTS).sort()).toEqual(expected.sort())
  })

  it('accept no unknown value, except at the listed locations', () => {
    const open: string[] = []
    for (const id of ids) {
      const schema = describeJsonOutput(id)
      expect(() => compileSchema(schema), id).not.toThrow()
      open.push(...listOpenValues(schema, '').map((path) => `${id} ${path}`))
    }
    expect(open).toEqual(OPEN)
  })

  it('include the schema of an error', () => {
    for (const id of ids) expect(describeJsonOutput(id).$defs).toHaveProperty('CommandError')
  })

  it('exist for every operation with a JSON reply', () => {
    for (const route of allRoutes) {
      const isJson = Object.values(route.ok).some((schema) => typeof schema !== 'string')
      if (isJson) expect(() => compileSchema(describeReply(route.id)), route.id).not.toThrow()
      else expect(() => describeReply(route.id), route.id).toThrow('does not reply with JSON')
    }
  })
})

describe('the check of what programs print in tests', () => {
  const run = (args: string[], output: { stdout?: object; stderr?: object; code?: number }, env = {}) =>
    checkJsonOutput('ks', args, {
      env,
      output: {
        stdout: output.stdout === undefined ? '' : JSON.stringify(output.stdout),
        stderr: output.stderr === undefined ? '' : JSON.stringify(output.stderr),
        code: output.code ?? 0,
      },
    })
  const exported = { file: 'notes.tar', bytes: 3, spaces: [] }

  it('accepts output that conforms, and rejects a missing, wrong or additional field', async () => {
    const args = ['bundle', 'export', 'notes', '-o', 'notes.tar', '--json']
    await run(args, { stdout: exported })
    await expect(run(args, { stdout: { ...exported, size: 3 } })).rejects.toThrow('must NOT have additional properties')
    await expect(run(args, { stdout: { ...exported, bytes: '3' } })).rejects.toThrow('bytes must be integer')
    await expect(run(args, { stdout: { file: 'notes.tar', bytes: 3 } })).rejects.toThrow("property 'spaces'")
  })

  it('finds the command behind leading flags, by its alias, and with the format of the environment', async () => {
    for (const args of [
      ['--json', 'docs', 'list'],
      ['docs', 'ls', '--format', 'json'],
      ['--quiet', 'docs', '--format=json'],
    ])
      await expect(run(args, { stdout: [{}] }), args.join(' ')).rejects.toThrow('does not conform')
    await expect(run(['docs'], { stdout: [{}] }, { KS_FORMAT: 'json' })).rejects.toThrow('does not conform')
    await run(['docs'], { stdout: [{}] })
  })

  it('checks the reply of an operation and the error of a failure', async () => {
    await expect(run(['api', 'getHealth', '--json'], { stdout: { ok: 'yes' } })).rejects.toThrow("property 'runtime'")
    const error = { code: 'not-found', message: 'no such space', exitCode: 5 }
    await run(['spaces', 'show', 'x', '--json'], { stderr: { error }, code: 5 })
    const wrong = { error: { ...error, details: [] } }
    await expect(run(['docs', '--format', 'jsonl'], { stderr: wrong, code: 5 })).rejects.toThrow('does not conform')
  })
})

describe('the fields that `--fields` may name', () => {
  it('come from the form of output that has the printed item', () => {
    const skipped = { filename: 'a.bin', reason: 'no parser', skippedAt: '2026-11-29T08:00:00.000Z' }
    const fields = readOutputFields('docs', skipped)
    expect([fields.has('sizeBytes'), fields.has('parserStatus')]).toEqual([true, false])
    expect(fields.names).toEqual(['filename', 'reason', 'sizeBytes', 'documentId', 'skippedAt'])
  })

  it('come from all forms for an empty list', () => {
    const fields = readOutputFields('docs', undefined)
    expect(['reason', 'parserStatus', 'metadata.anything'].every(fields.has)).toBe(true)
    expect(fields.has('nothing')).toBe(false)
  })

  it('include those of parts, for rows that are parts of an output', () => {
    const relation = { id: 'x', type: 'mentions' }
    expect(readOutputFields('graph', relation).has('subjectEntityId')).toBe(true)
    expect(readOutputFields('traces:show', { name: 'fuse', status: 'ok' }).has('endedAt')).toBe(true)
    expect(readOutputFields('models', { provider: 'local', model: 'chat' }).has('credential')).toBe(true)
  })
})

/** Paths of schemas that accept anything: objects of known fields with others, lists without items, empty schemas. */
function listOpenValues(value: unknown, path: string): string[] {
  if (Array.isArray(value)) return value.flatMap((entry, index) => listOpenValues(entry, `${path}/${index}`))
  if (!isRecord(value)) return []
  const isOpenObject = value.properties !== undefined && value.type === 'object' && value.additionalProperties !== false
  const isOpenList = value.type === 'array' && value.items === undefined
  const isAny = path.endsWith('/properties')
    ? Object.entries(value).flatMap(([name, schema]) => (acceptsAnything(schema) ? [`${path}/${name}`] : []))
    : []
  const below = Object.entries(value).flatMap(([key, entry]) => listOpenValues(entry, `${path}/${key}`))
  return [...(isOpenObject || isOpenList ? [path] : []), ...isAny, ...below]
}

function acceptsAnything(schema: unknown): boolean {
  return isRecord(schema) && Object.keys(schema).every((key) => key === 'description')
}
