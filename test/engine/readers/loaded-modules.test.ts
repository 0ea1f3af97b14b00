import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { encodePng } from '../../helpers/png.js'

const BUILT = fileURLToPath(new URL('../../../dist/engine/readers/', import.meta.url))

/** Reads a file with the built readers in a separate process, and prints the loaded modules. */
const PROGRAM = `
import { register, createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
const { port1, port2 } = new MessageChannel()
const urls = []
port1.on('message', (url) => urls.push(url))
port1.unref()
const hook = 'let port; export const initialize = (data) => { port = data }; export const load = (url, context, next) => { port.postMessage(url); return next(url, context) }'
register('data:text/javascript,' + encodeURIComponent(hook), { data: port2, transferList: [port2] })
const [built, name, content] = process.argv.slice(1)
const { compileBytes } = await import(pathToFileURL(built + 'read-document.js').href)
const { DEFAULT_LIMITS } = await import(pathToFileURL(built + 'limits.js').href)
await compileBytes(Buffer.from(content, 'base64'), { filename: name }, DEFAULT_LIMITS)
await new Promise((resolve) => setTimeout(resolve, 200))
const required = Object.keys(createRequire(import.meta.url).cache)
process.stdout.write(JSON.stringify([...urls, ...required]))
`
/** Modules that read and draw pictures. */
const HEAVY =
  /tesseract|pdfium|photon|utif|image-size|\/ocr\/(?:core|recognise|read-picture|pictures-inside|pdf-scans)\./

function loadedBy(name: string, content: string): string[] {
  const bytes = Buffer.from(content).toString('base64')
  const ran = spawnSync(process.execPath, ['--input-type=module', '--eval', PROGRAM, BUILT, name, bytes], {
    encoding: 'utf8',
  })
  expect([ran.status, ran.stderr]).toEqual([0, ''])
  const loaded: string[] = JSON.parse(ran.stdout)
  expect(loaded.some((url) => url.endsWith('readers/read-document.js'))).toBe(true)
  return loaded.filter((url) => HEAVY.test(url))
}

const page = (width: number, height: number) => {
  const bytes = encodePng({ width, height, channels: 1, data: new Uint8Array(width * height).fill(255) })
  return `<h1>A</h1><p>Words.</p><img src="data:image/png;base64,${bytes.toString('base64')}">`
}

it('notes, pages and tables without pictures load no module that reads pictures', () => {
  for (const [name, content] of Object.entries({
    'a.md': '# Note\n\nSome words, a [link](a.md) and ![a picture](a.png).',
    'a.txt': 'Some words.',
    'a.html': '<h1>Note</h1><p>Some words.</p><img src="a.png" alt="a mill">',
    'a.csv': 'a,b\n1,2\n',
  }))
    expect([name, loadedBy(name, content)]).toEqual([name, []])
})

it('an HTML page with an icon loads no text recognition, and a page with a larger picture does', () => {
  const ofIcon = loadedBy('icon.html', page(30, 30))
  expect(ofIcon.filter((url) => /tesseract|pdfium|\/ocr\/(?:core|recognise|read-picture)\./.test(url))).toEqual([])
  expect(loadedBy('shot.html', page(300, 300)).some((url) => url.includes('/ocr/recognise.'))).toBe(true)
})
