import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { chatRoutes } from '../../src/contract/chat/routes.js'
import { listLeafCommands } from '../../src/kchat/completion.js'
import { EXAMPLES } from '../../src/kchat/examples.js'
import { parseSend, SEND_OPTIONS } from '../../src/kchat/parse-send.js'
import { buildProgram } from '../../src/kchat/program.js'

const send = buildProgram().commands.find((command) => command.name() === 'send')!

describe('the fast path of `kchat send`', () => {
  it('supports the same options as the complete parser', () => {
    const known = send.options.map(({ long, short, required }) => [long?.slice(2), short ?? null, required])
    const quick = Object.entries(SEND_OPTIONS).map(([name, option]) => [
      name,
      'short' in option ? `-${option.short}` : null,
      option.type === 'string',
    ])
    expect(quick.sort()).toEqual(known.sort())
  })

  it('parses the same values as the complete parser', async () => {
    const lines = [
      ['send', 'hello'],
      ['send', 'hello', '--json', '--conversation', 'last', '--input', 'a=1', '--input', 'b=2'],
      ['send', '-q', '--no-name', '--no-autostart', '--no-color', '--image=x.png', '-', '--timeout', '30s'],
      ['send', '--', '--odd'],
    ]
    for (const line of lines) {
      let parsed: { query: string; options: object } | undefined
      const whole = buildProgram()
      whole.commands
        .find((command) => command.name() === 'send')!
        .action((query, options) => {
          parsed = { query, options }
        })
      await whole.parseAsync(line, { from: 'user' })
      // A default of commander counts as absent.
      const filled = { autostart: true, header: true, truncate: true, pager: true, name: true, conversation: 'new' }
      const quick = parseSend(line)!
      expect({ query: quick.query, options: { ...filled, ...quick.options } }, line.join(' ')).toEqual(parsed)
    }
  })

  it('leaves help and lines with errors to the complete parser', () => {
    for (const line of [['send'], ['send', 'a', 'b'], ['send', '--help'], ['send', 'a', '--nothing'], ['chat']])
      expect(parseSend(line)).toBeUndefined()
  })
})

describe('each command of kchat', () => {
  const leaves = listLeafCommands(buildProgram()).map(({ words, command }) => ({ name: words.join(' '), command }))

  it('shows an example with existing options', () => {
    expect(Object.keys(EXAMPLES).sort()).toEqual(leaves.map(({ name }) => name).sort())
    for (const { name, command } of leaves) {
      const known = new Set(command.options.map(({ long }) => long))
      const start = `kchat ${name.replace(/ list$/, '')}`
      expect(
        EXAMPLES[name]?.some((example) => example.includes(start)),
        name,
      ).toBe(true)
      for (const example of EXAMPLES[name] ?? []) {
        const own = example.split(/ \| | < /).find((part) => part.includes(start)) ?? ''
        for (const [, flag] of own.matchAll(/ (--[a-z-]+)/g)) expect(known, `${name}: ${flag}`).toContain(flag)
      }
    }
  })

  it('describes itself in a sentence and its options as fragments', () => {
    for (const { name, command } of leaves) {
      expect(command.description(), name).toMatch(/^[A-Z].*\.$/)
      for (const { long, description } of command.options)
        expect(description, `${name} ${long}`).toMatch(/^([^A-Z]|[A-Z]{2,}).*[^.]$/)
    }
  })

  it('uses routes of the chat service, and no route remains unused', () => {
    const folder = fileURLToPath(new URL('../../src/kchat', import.meta.url))
    const source = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts'))
      .map((path) => readFileSync(join(folder, path), 'utf8'))
      .join('\n')
    const missing = chatRoutes.filter(({ path }) => {
      const words = path.replace('/v1', '').split(/\{[^}]*\}/)
      // The stream that started an answer also follows it.
      return (
        !path.endsWith('/events') &&
        !words.every((word) => word === '' || source.includes(word) || source.includes(`'${word.slice(1)}'`))
      )
    })
    expect(missing.map(({ method, path }) => `${method} ${path}`)).toEqual([])
  })
})
