import { fileURLToPath } from 'node:url'
import { Config } from '@oclif/core/config'
import pLimit from 'p-limit'
import { afterAll, expect, it } from 'vitest'
import { cliHome } from '../helpers/cli.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const home = cliHome()
afterAll(() => home.end())

/** A name with its last two neighbouring letters swapped that differ. */
function misspell(name: string): string {
  let last = name.length - 1
  while (name[last] === name[last - 1]) last--
  return `${name.slice(0, last - 1)}${name[last]}${name[last - 1]}${name.slice(last + 1)}`
}

it('every command refuses a misspelt flag and a surplus argument with exit code 2, and names what was meant', async () => {
  const { commands } = await Config.load(root)
  const limit = pLimit(2)
  const wrong: string[] = []
  const check = async (args: string[], expected: readonly string[]) => {
    const { code, stdout, stderr } = await home.ks(args)
    if (code !== 2 || stdout !== '' || expected.some((text) => !stderr.includes(text)))
      wrong.push(`${args.join(' ')}: ${code} ${stderr}`)
  }
  const checks = commands.flatMap(({ id, flags, args = {}, strict }) => {
    const words = id.split(':')
    const [longest = 'format'] = Object.keys(flags).sort((a, b) => b.length - a.length)
    const required = Object.values(args).map(({ options = ['x'] }) => options[0] ?? 'x')
    const typed = misspell(longest)
    const flag = [`unknown flag \`--${typed}\``, `did you mean \`--${longest}\`?`]
    return [
      limit(() => check([...words, ...required, `--${typed}`], flag)),
      ...(strict === false ? [] : [limit(() => check([...words, ...required, 'surplus'], ['surplus', 'hint: ']))]),
    ]
  })
  await Promise.all(checks)
  expect(wrong).toEqual([])
  expect(checks.length).toBeGreaterThan(150)
}, 180_000)
