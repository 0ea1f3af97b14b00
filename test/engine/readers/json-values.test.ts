import { expect, it } from 'vitest'
import { read } from './read.js'

it('numbers of JSON stay as they are written', async () => {
  const text =
    '{"id": 738529527931269425, "price": 1.10, "version": 2.0, "big": 1e400, "small": -0.0, "exact": 13.40495400000000012}'
  expect((await read('a.json', text)).text).toBe(
    'id: 738529527931269425\nprice: 1.10\nversion: 2.0\nbig: 1e400\nsmall: -0.0\nexact: 13.40495400000000012',
  )
  expect((await read('a.jsonl', '{"id": 1610521604143693812}\n{"id": 9007199254740993}\n')).text).toBe(
    'id: 1610521604143693812\n\nid: 9007199254740993',
  )
  expect((await read('a.geojson', '{"properties": {"osm": 123456789012345678901}}')).text).toContain(
    'osm: 123456789012345678901',
  )
})

it('keys of JSON keep their order, and equal keys are all kept', async () => {
  expect((await read('a.json', '{"10": "a", "9": "b", "x": 1, "x": 2, "__proto__": "p"}')).text).toBe(
    '10: a\n9: b\nx: 1\nx: 2\n__proto__: p',
  )
})

it('strings of JSON are unescaped, and containers without content are shown', async () => {
  expect((await read('a.json', '{"a": "x\\"\\\\\\u00e9", "b": [], "c": {}, "d": [1, [2.50], null, true]}')).text).toBe(
    'a: x"\\é\nb: []\nc: {}\n\nd\n\n- 1\n\n- 2.50\n\n- null\n- true',
  )
})

it.each(['{"a": 1,}', '[1, 2', '{"a" 1}', '[1] 2', '["a\\x"]', '{a: 1}', '[01.2.3]', '[tru]', '"open'])(
  'text that is no JSON is read as text: %s',
  async (text) => {
    const document = await read('a.json', text)
    expect(document.text).toBe(text)
    expect(document.metadata.warnings).toEqual(['not valid JSON; read as text'])
  },
)

it('numbers and dates of front matter stay as they are written, in YAML and in TOML', async () => {
  const yaml =
    '---\nversion: 1.10\nid: 738529527931269425\nhex: 0x1F\nzip: 01234\nanswer: off\ndraft: true\ndate: 2024-05-01\n---\nWords.\n'
  expect((await read('a.md', yaml)).metadata.frontMatter).toEqual({
    version: '1.10',
    id: '738529527931269425',
    hex: '0x1F',
    zip: '01234',
    answer: 'off',
    draft: true,
    date: '2024-05-01',
  })
  const toml =
    '+++\ntitle = "Boats"\nversion = 1.10\nid = 738529527931269425 # large\ndate = 2024-05-01\n[deep]\nhex = 0x1F\n+++\nWords.\n'
  const document = await read('a.md', toml)
  expect([document.title, document.text]).toEqual(['Boats', 'Words.'])
  expect(document.metadata.frontMatter).toEqual({
    title: 'Boats',
    version: '1.10',
    id: '738529527931269425',
    date: '2024-05-01',
    deep: { hex: '0x1F' },
  })
})
