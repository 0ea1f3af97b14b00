import { expect, it } from 'vitest'
import { reduceS3Response } from '../../../../src/engine/ingest/sources/connectors/s3-xml.js'
import { listDavFolder, parseMultistatus } from '../../../../src/engine/ingest/sources/connectors/webdav-xml.js'

const element = (name: string, inner: string) => `<${name}>${inner}</${name}>`

it('a reduced response of S3 keeps the used elements in place and nothing else', () => {
  const used = [
    element('IsTruncated', 'true') + element('EncodingType', 'url') + element('NextContinuationToken', 'n1'),
    element('Contents', element('Key', 'a&amp;b&lt;') + element('Size', '5')),
    element('CommonPrefixes', element('Prefix', 'docs/')),
  ].join('')
  const noise = '<Owner><ID>1</ID><Key>no key</Key></Owner> <StorageClass/>'
  expect(reduceS3Response(`<?xml version="1.0"?><ListBucketResult xmlns="x">${noise}${used}</ListBucketResult>`)).toBe(
    element('ListBucketResult', ` ${used}`),
  )
  const buckets = element('ListAllMyBucketsResult', element('Buckets', element('Bucket', element('Name', 'b'))))
  expect(reduceS3Response(buckets)).toBe(buckets)
  const failed = element('Error', element('Code', 'NoSuchKey') + element('Message', 'none &gt; here'))
  expect(reduceS3Response(failed)).toBe(failed)
})

it('elements that a response of S3 leaves open are closed from the inside, and unmatched ends are dropped', () => {
  expect(reduceS3Response('<ListBucketResult><Contents><Key>a')).toBe(
    '<ListBucketResult><Contents><Key>a</Key></Contents></ListBucketResult>',
  )
  expect(reduceS3Response('<ListBucketResult></Key></Contents>a</ListBucketResult>b')).toBe(
    '<ListBucketResult>a</ListBucketResult>',
  )
})

it('a response with more elements or text than S3 sends is rejected', () => {
  const listing = (count: number, inner: string) => element('ListBucketResult', element('Key', inner).repeat(count))
  expect(reduceS3Response(listing(24_999, 'a'))).toBe(listing(24_999, 'a'))
  expect(() => reduceS3Response(listing(25_000, 'a'))).toThrow('a response that is not from S3')
  expect(() => reduceS3Response(listing(5, 'a'.repeat(1024 * 1024)))).toThrow('a response that is not from S3')
})

const response = (href: string, size?: string, isFolder = false) =>
  element(
    'd:response',
    element('d:href', href) +
      element(
        'd:propstat',
        (isFolder ? element('d:resourcetype', '<d:collection/>') : '') +
          (size === undefined ? '' : element('d:getcontentlength', size)),
      ),
  )
const multistatus = (...responses: string[]) => element('d:multistatus', responses.join(''))

it('a WebDAV multistatus lists each resource with its size, and marks folders', () => {
  expect(
    parseMultistatus(
      multistatus(
        response(' /a.md ', ' 12 '),
        response('/folder/', undefined, true),
        response('/b.md', 'many'),
        response('/c.md', '9'.repeat(16)),
        response('', '3'),
        response('/d.md'),
      ),
    ),
  ).toEqual([
    { href: '/a.md', isFolder: false, size: 12 },
    { href: '/folder/', isFolder: true },
    { href: '/b.md', isFolder: false },
    { href: '/c.md', isFolder: false },
    { href: '/d.md', isFolder: false },
  ])
})

it('a resource of a WebDAV multistatus has its first address, whatever the namespace prefix', () => {
  const xml =
    '<multistatus><response><href>/a</href><prop><href>/b</href><x:other>/c</x:other></prop></response></multistatus>'
  expect(parseMultistatus(xml)).toEqual([{ href: '/a', isFolder: false }])
})

const FOLDER = { base: 'https://dav.example/files/', folder: 'docs/', prefix: '', most: 10 }
const list = (xml: string, rest: Partial<typeof FOLDER> = {}) =>
  listDavFolder(xml, { ...FOLDER, asked: 'https://dav.example/files/docs/', ...rest })

it('a WebDAV folder lists its direct children from relative and full addresses, sorted', () => {
  expect(
    list(
      multistatus(
        response('/files/docs/', undefined, true),
        response('/files/docs/z.md', '1'),
        response('https://dav.example/files/docs/%C3%A4.md', '2'),
        response('b.md'),
        response('/files/docs/sub/', '7', true),
        response('/files/docs/unmarked-folder', undefined, true),
        response('/files/docs/sub/deep.md', '1'),
      ),
    ),
  ).toEqual([
    { id: 'docs/b.md', name: 'b.md', type: 'file' },
    { id: 'docs/sub/', name: 'sub', type: 'folder' },
    { id: 'docs/unmarked-folder/', name: 'unmarked-folder', type: 'folder' },
    { id: 'docs/z.md', name: 'z.md', type: 'file', size: 1 },
    { id: 'docs/ä.md', name: 'ä.md', type: 'file', size: 2 },
  ])
})

it('foreign and invalid addresses are no entries of a WebDAV folder', () => {
  expect(
    list(
      multistatus(
        response('https://other.example/files/docs/a.md'),
        response('/elsewhere/docs/a.md'),
        response('/files/docs/%FF.md'),
        response('https://'),
        response('/files/docs/a.md'),
      ),
    ),
  ).toEqual([{ id: 'docs/a.md', name: 'a.md', type: 'file' }])
})

it('a WebDAV folder can be listed by a prefix of ids and up to a limit', () => {
  const xml = multistatus(response('/files/docs/b2'), response('/files/docs/a'), response('/files/docs/b1'))
  expect(list(xml, { prefix: 'docs/b' }).map(({ id }) => id)).toEqual(['docs/b1', 'docs/b2'])
  expect(list(xml, { most: 2 }).map(({ id }) => id)).toEqual(['docs/a', 'docs/b1'])
})
