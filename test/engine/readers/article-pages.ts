/** A generated page of one kind of site: its content, and the site's boilerplate around it. */
export interface MadePage {
  name: string
  html: string
  content: string[]
  around: string[]
}

type Make = (
  text: (words: number) => string,
  content: (text: string) => string,
  around: (text: string) => string,
) => string

const links = (count: number, make: () => string): string =>
  Array.from({ length: count }, () => `<li><a href="/x">${make()}</a></li>`).join('')
const times = (count: number, make: (place: number) => string): string =>
  Array.from({ length: count }, (_, place) => make(place)).join('')

const KINDS: Record<string, Make> = {
  news: (t, c, a) => `<header><div class="topbar"><ul>${links(8, () => a(t(2)))}</ul></div></header>
    <nav class="menu"><ul>${links(12, () => a(t(2)))}</ul></nav><div id="main"><article class="story"><h1>${c(t(7))}</h1><p class="byline">${t(3)}</p>
    ${times(7, () => `<p>${c(t(55))}</p>`)}<h2>${c(t(4))}</h2>${times(4, () => `<p>${c(t(45))}</p>`)}</article>
    <aside class="related"><h3>${a(t(2))}</h3><ul>${links(6, () => a(t(8)))}</ul></aside></div>
    <div class="cookie-banner"><p>${a(t(14))}</p><button>OK</button></div><footer><ul>${links(14, () => a(t(2)))}</ul><p>${a(t(9))}</p></footer>`,
  newsOfDivs: (
    t,
    c,
    a,
  ) => `<div class="hd"><div class="nav">${times(10, () => `<span><a href="/s">${a(t(1))}</a></span> `)}</div></div>
    <div class="wrap"><div class="col1"><div class="headline"><b>${c(t(8))}</b></div><div class="text">${times(9, () => `<div>${c(t(50))}</div>`)}</div></div>
    <div class="col2"><div class="box"><div><a href="/1">${a(t(7))}</a></div><div><a href="/2">${a(t(7))}</a></div><div><a href="/3">${a(t(6))}</a></div></div></div></div>
    <div class="ft"><a href="/about">${a(t(2))}</a> <a href="/imprint">${a(t(1))}</a></div>`,
  blog: (
    t,
    c,
    a,
  ) => `<div id="page"><header id="masthead"><a href="/">${a(t(3))}</a><p class="site-description">${a(t(6))}</p></header>
    <main><h1 class="entry-title">${c(t(6))}</h1><div class="entry-content">${times(5, () => `<p>${c(t(60))}</p>`)}<ul>${times(4, () => `<li>${c(t(9))}</li>`)}</ul>
    <pre><code>${c(t(12))}</code></pre><blockquote><p>${c(t(30))}</p></blockquote><p>${c(t(40))}</p></div>
    <div class="sharing"><a href="#">${a(t(2))}</a> <a href="#">${a(t(2))}</a></div></main>
    <div id="secondary" class="widget-area"><section class="widget"><h2>${a(t(2))}</h2><ul>${links(7, () => a(t(5)))}</ul></section>
    <section class="widget"><h2>${a(t(1))}</h2><ul>${links(9, () => a(t(2)))}</ul></section></div><footer><p>${a(t(6))}</p></footer></div>`,
  blogWithComments: (
    t,
    c,
    a,
  ) => `<nav>${times(5, () => `<a href="/p">${a(t(1))}</a> `)}</nav><article><header><h1>${c(t(5))}</h1></header>
    ${times(8, () => `<p>${c(t(48))}</p>`)}</article><section id="comments"><h2>${c(t(1))}</h2>${times(3, () => `<div class="comment"><p>${c(t(40))}</p></div>`)}</section>
    <div class="newsletter"><p>${a(t(9))}</p></div><footer><ul>${links(8, () => a(t(2)))}</ul></footer>`,
  docs: (
    t,
    c,
    a,
  ) => `<div class="topnav">${times(6, () => `<a href="/v">${a(t(1))}</a> `)}</div><div class="layout"><div class="sidebar"><ul>${times(4, () => `<li><a href="/c">${a(t(2))}</a><ul>${links(5, () => a(t(3)))}</ul></li>`)}</ul></div>
    <div class="content"><h1>${c(t(4))}</h1><p>${c(t(40))}</p>${times(4, () => `<h2>${c(t(3))}</h2><p>${c(t(45))}</p><pre><code>${c(t(10))}</code></pre><p>${c(t(25))}</p>`)}
    <table><tr><th>${c(t(1))}</th><th>${c(t(1))}</th></tr>${times(4, () => `<tr><td>${c(t(1))}</td><td>${c(t(6))}</td></tr>`)}</table></div>
    <div class="toc"><ul>${links(5, () => a(t(3)))}</ul></div></div><div class="pager"><a href="/prev">${a(t(3))}</a> <a href="/next">${a(t(3))}</a></div>`,
  docsReference: (
    t,
    c,
    a,
  ) => `<nav class="md-nav"><ul>${links(30, () => a(t(2)))}</ul></nav><main><article><h1>${c(t(2))}</h1>
    ${times(8, () => `<h3>${c(t(2))}</h3><p>${c(t(8))}</p><p>${c(t(20))}</p><ul>${times(3, () => `<li>${c(t(7))}</li>`)}</ul>`)}</article></main><footer><a href="/edit">${a(t(4))}</a></footer>`,
  forum: (
    t,
    c,
    a,
  ) => `<div class="header"><ul class="menu">${links(7, () => a(t(1)))}</ul></div><div class="breadcrumb"><a href="/">${a(t(1))}</a> <a href="/f">${a(t(2))}</a></div><h1>${c(t(7))}</h1>
    ${times(5, () => `<div class="post"><div class="author"><a href="/u">${t(1)}</a></div><div class="body"><p>${c(t(45))}</p><p>${c(t(30))}</p></div></div>`)}
    <div class="footer">${times(9, () => `<a href="/l">${a(t(2))}</a> `)}</div>`,
  questions: (
    t,
    c,
    a,
  ) => `<header><form><input></form><ol>${links(6, () => a(t(1)))}</ol></header><div id="left-sidebar"><ol>${links(7, () => a(t(1)))}</ol></div>
    <div id="mainbar"><h1>${c(t(8))}</h1><div class="question"><p>${c(t(50))}</p><pre><code>${c(t(15))}</code></pre><p>${c(t(20))}</p></div>
    ${times(3, () => `<div class="answer"><p>${c(t(60))}</p><pre><code>${c(t(9))}</code></pre></div>`)}</div><div id="sidebar"><h4>${a(t(1))}</h4>${times(8, () => `<div><a href="/q">${a(t(8))}</a></div>`)}</div>`,
  shop: (
    t,
    c,
    a,
  ) => `<header><ul>${links(15, () => a(t(1)))}</ul></header><div class="product"><h1>${c(t(4))}</h1><div class="price">${c(`${t(1)} 49.90`)}</div>
    <div class="description">${times(3, () => `<p>${c(t(40))}</p>`)}</div><table class="specs">${times(6, () => `<tr><th>${c(t(1))}</th><td>${c(t(3))}</td></tr>`)}</table>
    <div class="reviews">${times(3, () => `<p>${c(t(35))}</p>`)}</div></div><div class="also"><h3>${a(t(4))}</h3>${times(6, () => `<div class="card"><a href="/i">${a(t(4))}</a></div>`)}</div>
    <footer><ul>${links(16, () => a(t(2)))}</ul></footer>`,
  shopList: (t, c) =>
    `<h1>${c(t(2))}</h1><div class="grid">${times(20, () => `<div class="card"><a href="/i">${c(t(4))}</a> <span>${c(t(1))}</span></div>`)}</div>`,
  wiki: (t, c, a) => `<div id="mw-panel"><ul>${links(20, () => a(t(2)))}</ul></div><div id="content"><h1>${c(t(2))}</h1>
    <table class="infobox">${times(5, () => `<tr><th>${c(t(1))}</th><td>${c(t(2))}</td></tr>`)}</table>${times(3, () => `<p>${c(t(30))} <a href="/w">${c(t(2))}</a> ${c(t(30))}</p>`)}
    ${times(4, () => `<h2>${c(t(2))}</h2><p>${c(t(50))}</p><p>${c(t(40))} <a href="/w">${c(t(2))}</a></p>`)}<h2>${c(t(1))}</h2><ol class="references">${times(5, () => `<li>${c(t(9))}</li>`)}</ol></div>
    <div id="footer"><ul>${links(7, () => a(t(3)))}</ul></div>`,
  manual: (t, c, a) =>
    `<table class="frame"><tr><td>${times(9, () => `<a href="/m">${a(t(2))}</a><br>`)}</td><td><h1>${c(t(3))}</h1>${times(6, () => `<p>${c(t(55))}</p>`)}</td></tr></table>`,
}

/** A page of each kind, with different words and titles for each seed. */
export function madePages(seed: number): MadePage[] {
  let state = seed
  const random = (below: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
  const word = (): string =>
    Array.from({ length: 1 + random(3) }, () => `${'bcdfghklmnprstvz'[random(16)]}${'aeiou'[random(5)]}`).join('') +
    'nrstl'[random(5)]
  const text = (words: number): string => {
    const list = Array.from(
      { length: words },
      (_, place) => `${word()}${place + 1 < words && words > 8 && random(8) === 0 ? ',' : ''}`,
    )
    const line = list.join(' ')
    return `${line.charAt(0).toUpperCase()}${line.slice(1)}${words > 8 ? '.' : ''}`
  }
  return Object.entries(KINDS).map(([name, make]) => {
    const content: string[] = []
    const around: string[] = []
    const keep =
      (list: string[]) =>
      (words: string): string => {
        list.push(words)
        return words
      }
    const body = make(text, keep(content), keep(around))
    return {
      name,
      html: `<!DOCTYPE html><html><head><title>${text(5)}</title></head><body>${body}</body></html>`,
      content,
      around,
    }
  })
}
