import { describe, expect, it } from 'vitest'
import { program } from '../../src/kchat/program.js'
import { quickSend, SEND_OPTIONS } from '../../src/kchat/quick.js'

const send = program().commands.find((command) => command.name() === 'send')!

describe('`kchat send` without the parser of all commands', () => {
  it('has the same options', () => {
    const known = send.options.map(({ long, short, required }) => [long?.slice(2), short ?? null, required])
    const quick = Object.entries(SEND_OPTIONS).map(([name, option]) => [
      name,
      'short' in option ? `-${option.short}` : null,
      option.type === 'string',
    ])
    expect(quick.sort()).toEqual(known.sort())
  })

  it('reads the same', async () => {
    const lines = [
      ['send', 'hello'],
      ['send', 'hello', '--json', '--conversation', 'last', '--input', 'a=1', '--input', 'b=2'],
      ['send', '-q', '--no-name', '--no-autostart', '--no-color', '--image=x.png', '-', '--timeout', '30s'],
      ['send', '--', '--odd'],
    ]
    for (const line of lines) {
      let parsed: { query: string; options: object } | undefined
      const whole = program()
      whole.commands
        .find((command) => command.name() === 'send')!
        .action((query, options) => {
          parsed = { query, options }
        })
      await whole.parseAsync(line, { from: 'user' })
      // what commander fills in is what the program takes for absent
      const filled = { color: true, autostart: true, name: true, conversation: 'new' }
      const quick = quickSend(line)!
      expect({ query: quick.query, options: { ...filled, ...quick.options } }, line.join(' ')).toEqual(parsed)
    }
  })

  it('leaves help and mistakes to that parser', () => {
    for (const line of [['send'], ['send', 'a', 'b'], ['send', '--help'], ['send', 'a', '--nothing'], ['chat']])
      expect(quickSend(line)).toBeUndefined()
  })
})
