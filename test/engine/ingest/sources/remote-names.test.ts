import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseMultistatus } from '../../../../src/engine/ingest/sources/connectors/webdav-xml.js'
import { createDocumentName } from '../../../../src/engine/ingest/sources/document-name.js'

test('two different items of a source never share a document name', () => {
  const paths = fc.oneof(
    fc.constantFrom('a.md', 'a', 'A.md', './a.md', '/a.md', 'a//b.md', 'a/b.md', '../a.md', 'a\u0000.md', 'C:a.md', ''),
    fc.string({ maxLength: 20 }),
  )
  fc.assert(
    fc.property(paths, paths, (one, other) => {
      const same = createDocumentName(one, one, true) === createDocumentName(other, other, true)
      expect(same).toBe(one === other)
    }),
    { numRuns: 2000 },
  )
  const marked = createDocumentName('x.md', 'key', false)
  expect(createDocumentName(marked, marked, true)).not.toBe(marked)
})

test('A30: any WebDAV response is parsed as a list of resources, without external entities', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.constantFrom('<D:response>', '</D:response>', '<href>', '</href>', '/a', '<x:collection/>', '<', '&', '"'),
      ),
      (parts) => {
        for (const { href } of parseMultistatus(parts.join(''))) expect(href).not.toBe('')
      },
    ),
  )
  const xml = `<?xml version="1.0"?><!DOCTYPE d [<!ENTITY e SYSTEM "file:///etc/passwd">]>
    <multistatus xmlns="DAV:"><response><href>/dav/a&amp;b</href><propstat><prop><getcontentlength>12</getcontentlength>
    <resourcetype/></prop></propstat></response><response><href>/dav/c/</href><propstat><prop><resourcetype><collection/>
    </resourcetype></prop></propstat></response><response><href>&e;</href></response></multistatus>`
  expect(parseMultistatus(xml)).toEqual([
    { href: '/dav/a&b', isFolder: false, size: 12 },
    { href: '/dav/c/', isFolder: true },
    { href: '&e;', isFolder: false },
  ])
})
