import { expect, test } from 'vitest'
import { filesBelow, readFile } from './tree.js'

const MAX_LINES = 350

const code = [...filesBelow('src'), ...filesBelow('bin'), ...filesBelow('scripts')]
const everything = filesBelow('.').filter((path) => !/\.(lock|png|jpe?g|pdf|docx|xlsx|zip|gz)$/.test(path))

test(`no source file is longer than ${MAX_LINES} lines`, () => {
  const long = code
    .map((path) => ({ path, lines: readFile(path).split('\n').length - 1 }))
    .filter(({ lines }) => lines > MAX_LINES)
  expect(long).toEqual([])
})

test('source files have names in kebab-case', () => {
  const odd = code.filter(
    (path) =>
      !/^(bin\/package\.json$|src\/console\/tsconfig\.json$|([a-z0-9.-]+\/)*[a-z0-9]+([.-][a-z0-9]+)*\.(ts|tsx|js|wat|css|html|svg)$)/.test(
        path,
      ),
  )
  expect(odd).toEqual([])
})

test('no comment contains an open task', () => {
  const words = ['TO' + 'DO', 'FIX' + 'ME', 'X{3}\\b', 'not implem' + 'ented', '@ts-(ignore|expect-error)']
  const marks = new RegExp(`(^\\s*\\*|//|/\\*\\*?)\\s.*(${words.join('|')})`, 'm')
  const found = [...code, ...filesBelow('test')].filter((path) => marks.test(readFile(path)))
  expect(found).toEqual([])
})

test('tests are neither focused nor skipped without a reason', () => {
  const marks = /\b(test|it|describe)\.(only\(|todo\(|skip\((?!reason\b))/
  expect(filesBelow('test').filter((path) => marks.test(readFile(path)))).toEqual([])
})

test('no script names the host of a package mirror: the machine configures it', () => {
  const hosts = /https?:\/\/[\w.-]*(debian|ubuntu|pypi|npmjs|golang|alpinelinux)[\w.-]*\.(org|com)\b/
  const scripts = everything.filter((path) => /^(\.ci|scripts|deploy|bench|bin)\//.test(path))
  expect(scripts).toContain('.ci/run')
  expect(scripts.filter((path) => hosts.test(readFile(path)))).toEqual([])
})

test('no file contains a path that exists on a single machine only', () => {
  const home = process.env['HOME'] ?? ''
  const registry = new URL(process.env['npm_config_registry'] ?? 'https://registry.npmjs.org').host
  const places = ['/wo' + 'rk/', '/Use' + 'rs/', home.length > 5 ? `${home}/` : undefined]
  if (registry !== 'registry.npmjs.org') places.push(registry)
  const found = everything.flatMap((path) => {
    const text = readFile(path)
    return places.filter((place) => place !== undefined && text.includes(place)).map((place) => `${path}: ${place}`)
  })
  expect(found).toEqual([])
})
