import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { extractPageFacts } from '../../../../src/engine/ingest/sources/web/page.js'
import { parseRefresh, parseRobotsDirectives } from '../../../../src/engine/ingest/sources/web/page-directives.js'
import { parseRobots } from '../../../../src/engine/ingest/sources/web/robots.js'
import { createScope, toAddress, toFilename } from '../../../../src/engine/ingest/sources/web/scope.js'
import { createSite } from '../../../../src/engine/ingest/sources/web/site.js'
import { parseSitemap } from '../../../../src/engine/ingest/sources/web/sitemap.js'

const HOME = 'https://a.example/docs/'
const url = (path: string) => new URL(path, HOME)

describe('robots.txt', () => {
  const allowed = (text: string, ...paths: string[]) => {
    const robots = parseRobots(text, 'knowledge-spaces')
    return paths.map((path) => robots.allows(url(path)))
  }
  const forAll = (...rules: string[]) => ['User-agent: *', ...rules].join('\n')

  it('allows addresses that no rule forbids, and always /robots.txt', () => {
    expect(allowed('', '/a', '/robots.txt')).toEqual([true, true])
    expect(allowed(forAll('Disallow: /'), '/a', '/robots.txt')).toEqual([false, true])
    expect(allowed(forAll('Disallow:'), '/a')).toEqual([true])
    expect(allowed('Disallow: /\nUser-agent: *', '/a')).toEqual([true])
  })

  it('decides by the longest rule, and allows an address if two rules are equally long', () => {
    const rules = forAll('Disallow: /a', 'Allow: /a/b', 'Disallow: /a/b/c', 'Allow: /x', 'Disallow: /x')
    expect(allowed(rules, '/a', '/a/z', '/a/b', '/a/b/z', '/a/b/c/d', '/x/y', '/z')).toEqual([
      ...[false, false, true, true, false, true, true],
    ])
    expect(allowed(forAll('Disallow: /x', 'Allow: /x'), '/x')).toEqual([true])
  })

  it('compares rules with wildcards to plain rules by length', () => {
    const rules = forAll('Disallow: /*.pdf$', 'Allow: /public/', 'Disallow: /p*/secret', 'Allow: /*/open$')
    expect(allowed(rules, '/a.pdf', '/a.pdf?x', '/public/a.pdf', '/public/secret', '/q/open', '/q/open/')).toEqual([
      ...[false, true, true, false, true, true],
    ])
    expect(allowed(forAll('Disallow: /a$'), '/a', '/ab')).toEqual([false, true])
    expect(allowed(forAll('Disallow: /a*b*c'), '/a1b2c3', '/abc', '/acb', '/ab')).toEqual([false, false, true, true])
    expect(allowed(forAll('Disallow: /a*ba$'), '/aba', '/ab', '/aabca', '/axbyba')).toEqual([false, true, true, false])
    expect(allowed(forAll('Disallow: /*', 'Allow: /a'), '/b', '/a')).toEqual([false, true])
    expect(allowed(forAll('Allow: /*a', 'Disallow: /*a'), '/a')).toEqual([true])
  })

  it('uses only the groups that name our crawler, all of them together', () => {
    const text = [
      ...['User-agent: *', 'Disallow: /', 'User-agent: other', 'User-agent: Knowledge-Spaces/2.0 (x)', 'Disallow: /a'],
      ...['User-agent: knowledge-spaces', 'Disallow: /b'],
    ].join('\r\n')
    expect(allowed(text, '/a', '/b', '/c')).toEqual([false, false, true])
  })

  it('shares rules among consecutive agents, even across a Crawl-delay line', () => {
    const text =
      'User-agent: knowledge-spaces\nCrawl-delay: 3\nUser-agent: b\nDisallow: /a\nUser-agent: c\nDisallow: /b'
    expect(allowed(text, '/a', '/b')).toEqual([false, true])
  })

  it('ignores comments, unknown lines and the case of names', () => {
    expect(allowed('USER-AGENT: * # all\n\nnonsense\nNoindex: /x\n  disallow :  /a # b\n', '/a', '/x', '/b')).toEqual([
      ...[false, true, true],
    ])
  })

  it.each([
    ['/%7euser', '/~user', false],
    ['/ü', '/%C3%BC', false],
    ['/%c3%bc', '/ü', false],
    ['/a%2fb', '/a/b', true],
    ['/a%2Fb', '/a%2fb', false],
    ['/a%2Ab', '/a*b', false],
    ['/a%24', '/a$', false],
    ['/a$b', '/a$b', false],
    ['/a?b=1', '/a?b=12', false],
  ])('decides whether the rule "Disallow: %s" allows the address %s: %s', (rule, path, isAllowed) => {
    expect(allowed(forAll(`Disallow: ${rule}`), path)).toEqual([isAllowed])
  })

  it('uses the longest delay of the relevant groups, at most ten seconds', () => {
    const delayOf = (text: string) => parseRobots(text, 'knowledge-spaces').delayMs
    expect(delayOf(forAll('Crawl-delay: 2'))).toBe(2000)
    expect(delayOf(forAll('Crawl-delay: 0.5'))).toBe(500)
    expect(delayOf(forAll('Crawl-delay: 60'))).toBe(10_000)
    expect(delayOf(forAll('Crawl-delay: -5'))).toBe(0)
    expect(delayOf(forAll('Crawl-delay: soon'))).toBe(0)
    expect(delayOf('User-agent: *\nCrawl-delay: 5\nDisallow: /a\nUser-agent: *\nCrawl-delay: 3')).toBe(5000)
    expect(delayOf('User-agent: other\nCrawl-delay: 5')).toBe(0)
  })

  it('lists its site maps, whatever group their lines follow', () => {
    const text = 'Sitemap: https://a.example/1.xml\nUser-agent: x\nSITEMAP:/2.xml'
    expect(parseRobots(text, 'knowledge-spaces').sitemaps).toEqual(['https://a.example/1.xml', '/2.xml'])
  })
})

describe('the pages of a site', () => {
  it.each([
    ['https://a.example/docs/', ['/docs/', '/docs/a', '/docs/a/b'], ['/docs', '/docsx', '/']],
    ['https://a.example/docs', ['/docs', '/docs/a'], ['/docsx', '/']],
    ['https://a.example/docs/start.html', ['/docs/', '/docs/start.html', '/docs/a'], ['/docs', '/a']],
    ['https://a.example/v1.2', ['/v1.2', '/v1.2/a'], ['/v1.3', '/']],
    ['https://a.example', ['/', '/a'], ['http://b.example/a', 'ftp://a.example/a', 'https://a.example:444/a']],
  ])('count as inside or outside of the start address %s', (start, inside, outside) => {
    const { contains } = createScope(start)
    expect(inside.filter((path) => !contains(url(path)))).toEqual([])
    expect(outside.filter((path) => contains(url(path)))).toEqual([])
    expect(contains(new URL('http://a.example/docs/start.html'))).toBe(contains(url('/docs/start.html')))
  })

  it.each(['nothing', 'ftp://a.example/', 'file:///etc/'])('cannot have the start address %s', (uri) => {
    expect(() => createScope(uri)).toThrow('its uri is not an http or https URL')
  })

  it('have addresses without fragment; an address with credentials or above 2,048 characters is not fetched', () => {
    expect(toAddress(url('a?b#c'))).toBe('https://a.example/docs/a?b')
    expect(toAddress(new URL('https://u@a.example/'))).toBeUndefined()
    expect(toAddress(new URL('https://:p@a.example/'))).toBeUndefined()
    const long = (length: number) => url(`/${'x'.repeat(length - 'https://a.example/'.length)}`)
    expect(toAddress(long(2048))).toHaveLength(2048)
    expect(toAddress(long(2049))).toBeUndefined()
    expect(createScope('https://a.example/docs/#part').start).toBe('https://a.example/docs/')
  })

  it('have addresses without parameters of campaigns; other parameters stay as they are written', () => {
    expect(toAddress(url('a?utm_source=x&id=%20b+c&UTM_Campaign=y&fbclid=z'))).toBe(
      'https://a.example/docs/a?id=%20b+c',
    )
    expect(toAddress(url('a?gclid=1'))).toBe('https://a.example/docs/a')
    expect(toAddress(url('a?utm=1&id=%7e'))).toBe('https://a.example/docs/a?utm=1&id=%7e')
  })

  it('get a document name from the path, with a suffix where the path alone is ambiguous', () => {
    const name = (path: string, type = 'text/html') => toFilename(new URL(path, 'https://a.example').href, type)
    expect(name('/docs/a.html')).toBe('docs/a.html')
    expect(name('/docs/a.pdf', 'application/pdf')).toBe('docs/a.pdf')
    expect(name('/')).toMatch(/^index~[0-9a-f]{16}\.html$/)
    expect(name('/docs/')).toMatch(/^docs\/index~[0-9a-f]{16}\.html$/)
    expect(name('/docs/a.php')).toMatch(/^docs\/a~[0-9a-f]{16}\.html$/)
    expect(name('/docs/%C3%A4')).toMatch(/^docs\/ä~/)
    expect(name('/docs/%FF')).toMatch(/^docs\/%FF~/)
    expect(name('/docs/a', 'text/plain')).toMatch(/\.txt$/)
    expect(name('/docs/a', 'text/markdown')).toMatch(/\.md$/)
    expect(name('/docs/a', 'application/pdf')).toMatch(/\.pdf$/)
    expect(name('/docs/a.html?page=1')).not.toBe(name('/docs/a.html?page=2'))
    expect(name(`/${'a/'.repeat(12)}b`)).toMatch(/^(a\/){7}b~/)
    expect(name(`/${'x'.repeat(300)}/y`)).toMatch(/^x{100}\/y~/)
  })

  it('come from site maps, which may list further maps', () => {
    const xml = `<sitemapindex><sitemap><loc> https://a.example/more.xml </loc></sitemap><url><loc>https://a.example/a</loc></url>
      <url><loc>no address</loc></url><url><loc>https://a.example/${'x'.repeat(5000)}</loc></url><other>https://a.example/b</other></sitemapindex>`
    expect(parseSitemap(Buffer.from(xml)).map(({ kind, url }) => [kind, url.href])).toEqual([
      ['map', 'https://a.example/more.xml'],
      ['page', 'https://a.example/a'],
    ])
  })
})

describe('packed and plain site maps', () => {
  const addresses = (body: Buffer) => parseSitemap(body).map(({ url }) => url.href)

  it('list the same pages as the map of the standard', () => {
    expect(addresses(gzipSync('<urlset><url><loc>https://a.example/a</loc></url></urlset>'))).toEqual([
      'https://a.example/a',
    ])
    expect(addresses(Buffer.from('https://a.example/a\r\nnothing\nhttps://a.example/b\n'))).toEqual([
      'https://a.example/a',
      'https://a.example/b',
    ])
  })

  it('have no pages if they are damaged or larger than 50 MB when unpacked', () => {
    expect(addresses(gzipSync('x'.repeat(100)).subarray(0, 20))).toEqual([])
    expect(addresses(gzipSync(Buffer.alloc(51 * 1024 * 1024, 'https://a.example/a ')))).toEqual([])
  })
})

describe('a refresh', () => {
  const refresh = (content: string) => {
    const parsed = parseRefresh(content, new URL(HOME))
    return parsed === undefined ? undefined : [parsed.seconds, parsed.url.href]
  }

  it.each([
    ['0;URL=start.html', [0, 'https://a.example/docs/start.html']],
    ["5; url = '/b c' ", [5, 'https://a.example/b%20c']],
    ['1,"x"; y', [1, 'https://a.example/docs/x']],
    ['2.5 z', [2, 'https://a.example/docs/z']],
    ['30', undefined],
    ['0; url=', undefined],
    ['', undefined],
  ])('yields what browsers read in %j', (content, wanted) => {
    expect(refresh(content)).toEqual(wanted)
  })
})

describe('directives for robots', () => {
  it.each([
    ['', true, true],
    ['noindex', false, true],
    ['NOINDEX, nofollow', false, false],
    ['none', false, false],
    ['max-snippet: 20, nofollow', true, false],
    ['googlebot: noindex, nofollow', true, true],
    ['googlebot: nofollow, knowledge-spaces: noindex', false, true],
  ])('state in %j whether a page may be stored and its links followed', (header, mayIndex, mayFollow) => {
    expect(parseRobotsDirectives(header)).toEqual({ mayIndex, mayFollow })
  })
})

describe('a web page', () => {
  const read = (html: string) => extractPageFacts(Buffer.from(html), url('start'))

  it('yields a title, a description and the text of its body', () => {
    const html = `<head><title> The
      title </title><meta name="Description" content=" About  it "><meta name="description" content="second">
      <meta name="author" content="Ada"></head><body><h1>Head</h1>text<svg><title>Icon</title></svg><title>late</title></body>`
    expect(read(html)).toEqual({ title: 'The title', description: 'About it', links: [], text: 'Head text late' })
    expect(read('<p>x')).toEqual({ links: [], text: 'x' })
    expect(read('<meta name="description" content=" "><title> </title><p>x')).toEqual({ links: [], text: 'x' })
  })

  it.each(['script', 'style', 'template', 'noscript', 'svg'])('yields no text or link inside of %s', (name) => {
    const inner = '<a href="/no">no</a>'
    expect(read(`<p>a</p><${name}>${inner}</${name}><p>b</p>`)).toEqual({ links: [], text: 'a b' })
  })

  it('yields its links without repetition and a canonical address, resolved by its base', () => {
    const facts = read(
      `<a href="before"><base href="/other/"><a href="x"><a href="x"><area href="y"><a>none</a><a href="http://[">
       <link rel="stylesheet" href="s"><link rel="alternate CANONICAL" href="c"><link rel="canonical" href="d">`,
    )
    expect(facts.links.map(({ pathname }) => pathname)).toEqual(['/other/before', '/other/x', '/other/y'])
    expect(facts.canonical?.href).toBe('https://a.example/other/c')
    expect(read('<p>x').canonical).toBeUndefined()
  })

  it('yields at most 5,000 links, and truncated texts', () => {
    const links = Array.from({ length: 5001 }, (_, n) => `<a href="${n}">`).join('')
    expect(read(links).links).toHaveLength(5000)
    expect(read(`<title>${'t'.repeat(2000)}</title>`).title).toHaveLength(1000)
    expect(read(`<meta name=description content="${'t'.repeat(2000)}">`).description).toHaveLength(1000)
    expect(read(`<p>${'x'.repeat(100_000)}`).text).toHaveLength(64 * 1024)
    expect(read(`<a href="${'x'.repeat(5000)}">`).links).toEqual([])
  })
})

describe('a crawl of a site', () => {
  const site = (rules = '', maxDepth = 2) => {
    const made = createSite({ uri: HOME, maxDepth })
    made.robots(Buffer.from(rules))
    return made
  }
  const page = (html: string, path: string, type = 'text/html') => ({
    url: url(path).href,
    mediaType: type,
    body: Buffer.from(html),
  })
  const at = (path: string, depth = 0) => ({ address: url(path).href, depth })
  const pathsOf = (waiting: { address: string }[]) => waiting.map(({ address }) => address.slice(HOME.length))

  it('fetches the start page first, then linked pages in order, each once, up to the maximal depth', () => {
    const crawl = site()
    expect(crawl.next(5)).toEqual([at('')])
    expect(crawl.arrive(page('<a href="a"><a href="b"><a href="/out"><a href="a#x">', ''), at(''))).toMatchObject({
      kind: 'page',
      page: { address: HOME, mediaType: 'text/html' },
    })
    expect(crawl.next(1)).toEqual([at('a', 1)])
    crawl.arrive(page('<a href="c">', 'a'), at('a', 1))
    expect(crawl.next(5)).toEqual([at('b', 1), at('c', 2)])
    crawl.arrive(page('<a href="too-deep">', 'c'), at('c', 2))
    expect(crawl.next(5)).toEqual([])
  })

  it('requests nothing that robots.txt forbids, and reports whether robots.txt forbids the start page', () => {
    const rules = Buffer.from(
      'User-agent: *\nDisallow: /docs/no\nCrawl-delay: 1\nSitemap: https://a.example/s.xml\nSitemap: https://b.example/s.xml',
    )
    const crawl = site()
    expect(crawl.robots(rules)).toEqual({ startAllowed: true, sitemaps: ['https://a.example/s.xml'], delayMs: 1000 })
    crawl.arrive(page('<a href="no"><a href="yes">', ''), at(''))
    expect(pathsOf(crawl.next(5))).toEqual(['', 'yes'])
    expect(crawl.allowed([url('no').href, url('maybe').href, url('/out').href, 'none'])).toEqual([url('maybe').href])
    expect(site().robots(Buffer.from('User-agent: *\nDisallow: /')).startAllowed).toBe(false)
  })

  it('truncates a long robots.txt at the end of a line', () => {
    const long = `User-agent: *\n${'#'.repeat(512 * 1024 - 40)}\nDisallow: /x\nDisallow: /docs/abc`
    expect(site().robots(Buffer.from(long).subarray(0, 512 * 1024)).startAllowed).toBe(true)
  })

  it('fetches the pages of site maps, and follows maps of the same host', () => {
    const crawl = site()
    const map = (inner: string) => Buffer.from(`<x>${inner}</x>`)
    const loc = (path: string) => `<loc>${url(path).href}</loc>`
    expect(
      crawl.sitemap(
        map(
          `<sitemap>${loc('more.xml')}</sitemap><sitemap><loc>https://b.example/m.xml</loc></sitemap><url>${loc('p')}</url><url>${loc('/out')}</url>`,
        ),
      ),
    ).toEqual([url('more.xml').href])
    expect(crawl.next(5)).toEqual([at(''), at('p', 1)])
  })

  it('treats a page with a canonical address as a copy and fetches the original', () => {
    const crawl = site()
    crawl.next(1)
    expect(crawl.arrive(page('<link rel=canonical href="real">', '?x=1'), at('?x=1'))).toEqual({
      kind: 'copy',
      original: url('real').href,
    })
    expect(crawl.next(5)).toEqual([at('real')])
    expect(crawl.arrive(page('<link rel=canonical href="real">', 'real'), at('real')).kind).toBe('page')
    expect(crawl.arrive(page('<link rel=canonical href="https://b.example/">', 'own'), at('own')).kind).toBe('page')
  })

  it('follows a refresh like a redirect, at most five in a row, and keeps a page that is shown for long', () => {
    const crawl = site()
    crawl.next(1)
    const refresh = (to: string, seconds = 0, text = '') =>
      `<meta http-equiv=Refresh content="${seconds};url=${to}">${text}`
    expect(crawl.arrive(page(refresh('r1'), ''), at('')).kind).toBe('no-page')
    for (let hop = 1; hop <= 5; hop++) {
      expect(crawl.next(5)).toEqual([at(`r${hop}`)])
      expect(crawl.arrive(page(refresh(`r${hop + 1}`), `r${hop}`), at(`r${hop}`)).kind).toBe('no-page')
    }
    expect(crawl.next(5)).toEqual([])
    expect(crawl.arrive(page(refresh('moved', 5, 'It has moved.'), 'm'), at('m')).kind).toBe('no-page')
    expect(crawl.arrive(page(refresh('next', 5, 'A slide. '.repeat(99)), 's'), at('s')).kind).toBe('page')
    expect(crawl.arrive(page(refresh('news', 300, 'News.'), 'news'), at('news')).kind).toBe('page')
    expect(crawl.arrive(page(refresh('https://b.example/'), 'away'), at('away')).kind).toBe('page')
    expect(pathsOf(crawl.next(5))).toEqual(['moved', 'next'])
  })

  it('fetches frames and pages in other languages, and stores no frameset', () => {
    const crawl = site()
    crawl.next(1)
    const frames = '<frameset><frame src=nav><frame src=main><frame src="https://b.example/ad"></frameset>'
    expect(crawl.arrive(page(frames, ''), at('')).kind).toBe('no-page')
    expect(crawl.next(5)).toEqual([at('nav'), at('main')])
    const around =
      '<link rel=alternate hreflang=de href=de><link rel=alternate type=x href=feed><iframe src=in></iframe>Text'
    expect(crawl.arrive(page(around, 'main'), at('main')).kind).toBe('page')
    expect(crawl.next(5)).toEqual([at('in'), at('de', 1)])
  })

  it('stores no page that asks for it in its head or in the header, and follows its links only if it may', () => {
    const crawl = site()
    crawl.next(1)
    const meta = (content: string, link: string) => `<meta name=robots content="${content}"><a href="${link}">x</a>`
    expect(crawl.arrive(page(meta('noindex', 'a'), ''), at(''))).toEqual({
      kind: 'excluded',
      reason: 'is not stored: the page asks for it with noindex',
    })
    expect(crawl.arrive(page(meta('nofollow', 'b'), 'p'), at('p')).kind).toBe('page')
    expect(crawl.arrive({ ...page('<a href=c>x</a>', 'q'), robots: 'none' }, at('q')).kind).toBe('excluded')
    expect(pathsOf(crawl.next(5))).toEqual(['a'])
  })

  it('reads a page in the charset of its header, otherwise in that of its head', () => {
    const text = (body: string, charset?: string) => {
      const bytes = Buffer.from(body, 'latin1')
      const arrival = {
        url: url('p').href,
        mediaType: 'text/html',
        body: bytes,
        ...(charset === undefined ? {} : { charset }),
      }
      const arrived = site().arrive(arrival, at('p'))
      return arrived.kind === 'page' ? arrived.page.text : arrived.kind
    }
    expect(text('<meta charset=windows-1252><p>\xde\xfe</p>', 'windows-1254')).toBe('Şş')
    expect(text('<meta charset=windows-1254><p>\xde\xfe</p>')).toBe('Şş')
  })

  it('finds site maps at addresses relative to robots.txt', () => {
    expect(site().robots(Buffer.from('Sitemap: /maps/one.xml\nSitemap: //b.example/two.xml')).sitemaps).toEqual([
      'https://a.example/maps/one.xml',
    ])
  })

  it('drops redirects to known, forbidden and outside pages', () => {
    const crawl = site('User-agent: *\nDisallow: /docs/no')
    crawl.next(1)
    expect(crawl.arrive(page('x', ''), at('old')).kind).toBe('known')
    expect(crawl.arrive(page('x', 'new'), at('old')).kind).toBe('page')
    expect(crawl.arrive(page('x', 'new'), at('older')).kind).toBe('known')
    expect(crawl.arrive(page('x', '/out'), at('old')).kind).toBe('no-page')
    expect(crawl.arrive(page('x', 'no'), at('old')).kind).toBe('no-page')
    expect(crawl.arrive(page('x', 'p.zip', 'application/zip'), at('p.zip')).kind).toBe('no-page')
  })

  it.each([
    ['', 'text/html', 'b'],
    ['text/html', 'text/html', 'b'],
    ['application/xhtml+xml', 'application/xhtml+xml', 'b'],
    ['text/plain', 'text/plain', '<b>b</b>'],
    ['text/markdown', 'text/markdown', '<b>b</b>'],
    ['application/pdf', 'application/pdf', ''],
  ])('finds media type and text of a page with the response type %j', (type, mediaType, text) => {
    const taken = site().arrive(page('<b>b</b>', 'p', type), at('p'))
    expect(taken).toEqual({ kind: 'page', page: { address: url('p').href, mediaType, text } })
  })
})
