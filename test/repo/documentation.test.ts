import { existsSync } from 'node:fs'
import { posix, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { withReference } from '../../scripts/cli-reference.js'
import { formatDataModel } from '../../scripts/data-model.js'
import { listKchatCommands, withKchat } from '../../scripts/kchat-reference.js'
import { commonFlags } from '../../src/cli/common-flags.js'
import { ENVIRONMENT } from '../../src/cli/environment.js'
import { MOVED_COMMANDS } from '../../src/cli/moved-commands.js'
import { ERRORS, EXIT } from '../../src/contract/errors.js'
import { gatewayRoutes } from '../../src/contract/gateway/routes.js'
import { toOpenApi } from '../../src/contract/openapi.js'
import { allRoutes } from '../../src/contract/routes.js'
import { SUBJECTS } from '../../src/engine/store/schema/tables.js'
import { SETTINGS } from '../../src/local/settings.js'
import { filesBelow, readFile } from './tree.js'

const ROOT = resolve(import.meta.dirname, '../..')

test('every operation has a row in docs/http.md', () => {
  const text = readFile('docs/http.md')
  const missing = gatewayRoutes.filter((route) => !text.includes(`| \`${route.method} ${route.path}\` |`))
  expect(missing.map((route) => `${route.method} ${route.path}`)).toEqual([])
})

test('docs/http.md names no operation that does not exist', () => {
  const known = new Set(gatewayRoutes.map((route) => `${route.method} ${route.path}`))
  const named = [...readFile('docs/http.md').matchAll(/^\| `((?:GET|POST|PUT|PATCH|DELETE) \/[^`]*)` \|/gm)]
  expect(named.map((match) => match[1] ?? '').filter((line) => !known.has(line))).toEqual([])
})

test('every setting of the daemon is in docs/configuration.md with its variable and its line', () => {
  const text = readFile('docs/configuration.md')
  const missing = Object.entries(SETTINGS).filter(
    ([name, { env, doc }]) => !text.includes(`| \`${name}\` | \`${env}\` |`) || !text.includes(doc),
  )
  expect(missing.map(([name]) => name)).toEqual([])
})

test('every error code is in docs/errors.md with its status and its exit code', () => {
  const text = readFile('docs/errors.md')
  const missing = Object.entries(ERRORS).filter(
    ([code, { status, exit }]) => !text.includes(`| \`${code}\` | ${status} | ${exit} |`),
  )
  expect(missing.map(([code]) => code)).toEqual([])
})

test('every exit code is in docs/errors.md', () => {
  const text = readFile('docs/errors.md')
  expect(Object.values(EXIT).filter((code) => !new RegExp(`^\\| \\*\\*${code}\\*\\* \\|`, 'm').test(text))).toEqual([])
})

test('every environment variable that the code reads is documented', () => {
  const source = filesBelow('src').map(readFile).join('\n')
  const text = filesBelow('docs')
    .filter((path) => path.endsWith('.md'))
    .map(readFile)
    .join('\n')
  const read = new Set(
    [...source.matchAll(/env(?:\.|\['|, ')((?:KS|KCHAT)_[A-Z_]+)\b/g)].map((match) => match[1] ?? ''),
  )
  for (const [name] of ENVIRONMENT) read.add(name)
  expect([...read].filter((name) => !text.includes(name))).toEqual([])
})

test('docs/openapi.json equals the contract (npm run build writes it)', () => {
  const { version } = JSON.parse(readFile('package.json'))
  expect(JSON.parse(readFile('docs/openapi.json'))).toEqual(JSON.parse(JSON.stringify(toOpenApi(allRoutes, version))))
})

test('docs/data-model.md shows the current tables (npm run build writes it)', () => {
  expect(readFile('docs/data-model.md')).toBe(formatDataModel(SUBJECTS))
})

test('docs/cli.md shows the current commands of ks (npm run build writes it)', () => {
  const page = readFile('docs/cli.md')
  expect(page).toBe(withReference(page, JSON.parse(readFile('oclif.manifest.json')), commonFlags, MOVED_COMMANDS))
})

test('docs/cli.md shows the current commands of kchat (npm run build writes it)', async () => {
  const page = readFile('docs/cli.md')
  expect(page).toBe(withKchat(page, await listKchatCommands()))
})

test('every command in the documentation exists, with its flags', () => {
  const { commands }: { commands: Record<string, { flags: Record<string, { char?: string }> }> } = JSON.parse(
    readFile('oclif.manifest.json'),
  )
  const topics = new Set(Object.keys(commands).map((id) => id.split(':')[0]))
  const pages = [...filesBelow('docs'), 'README.md', 'CONTRIBUTING.md'].filter((path) => path.endsWith('.md'))
  const wrong = pages.flatMap((page) =>
    [...readFile(page).matchAll(/(?:^|[`|(] ?|\$ )ks ([a-z][^\n`|#]*)/gm)].flatMap(([, text = '']) => {
      const words = text.split(/\s+/)
      const [topic = '', verb = ''] = words
      const command = commands[`${topic}:${verb}`] ?? commands[topic]
      if (command === undefined) return topics.has(topic) ? [] : [`${page}: ks ${text}`]
      // `ks daemon exec -- COMMAND` contains another command line.
      const own = words.slice(0, words.includes('--') ? words.indexOf('--') : undefined)
      const known = { ...command.flags, ...commonFlags, help: {} }
      return own
        .flatMap((word) => /^--([a-z-]+)/.exec(word)?.[1] ?? [])
        .filter((flag) => !(flag in known))
        .map((flag) => `${page}: ks ${text} (--${flag})`)
    }),
  )
  expect(wrong).toEqual([])
})

test('every dependency has a line in docs/dependencies.md', () => {
  const { dependencies, optionalDependencies } = JSON.parse(readFile('package.json'))
  const text = readFile('docs/dependencies.md')
  const missing = Object.keys({ ...dependencies, ...optionalDependencies }).filter(
    (name) => !text.includes(`| \`${name}\` |`),
  )
  expect(missing).toEqual([])
})

test('every link between the documents has a target', () => {
  const pages = [...filesBelow('docs'), 'README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'bench/README.md'].filter(
    (path) => path.endsWith('.md'),
  )
  const broken = pages.flatMap((page) =>
    [...readFile(page).matchAll(/\]\((?!https?:|#)([^)#\s]+)(?:#[^)]*)?\)/g)]
      .map((match) => posix.join(posix.dirname(page), match[1] ?? ''))
      .filter((target) => !existsSync(resolve(ROOT, target)))
      .map((target) => `${page} → ${target}`),
  )
  expect(broken).toEqual([])
})

test('every script of package.json in the documentation exists', () => {
  const { scripts } = JSON.parse(readFile('package.json'))
  const pages = [...filesBelow('docs'), 'README.md', 'CONTRIBUTING.md', 'bench/README.md'].filter((path) =>
    path.endsWith('.md'),
  )
  const named = pages.flatMap((page) => [...readFile(page).matchAll(/npm run ([\w:-]+)/g)].map((match) => match[1]))
  expect([...new Set(named)].filter((name) => name !== undefined && scripts[name] === undefined)).toEqual([])
})
