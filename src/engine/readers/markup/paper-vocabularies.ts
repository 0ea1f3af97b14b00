/** The meaning of the elements of an XML vocabulary for papers and books, by local name. */
export interface PaperVocabulary {
  /** elements that are sections, with a title for those that have none */
  sections: ReadonlyMap<string, string>
  /** elements with the title of their section */
  titles: ReadonlySet<string>
  /** elements that begin a new line of text */
  paragraphs: ReadonlySet<string>
  /** elements that correspond to an element of HTML */
  html: ReadonlyMap<string, string>
  /** elements whose text keeps its line ends */
  code: ReadonlySet<string>
  /** elements with the metadata of the document */
  heads: ReadonlySet<string>
  /** entries of the list of references */
  references: ReadonlySet<string>
  /** elements with captions, whose titles are text */
  captions: ReadonlySet<string>
  /** elements of the head, and the field of the document that they state */
  facts: ReadonlyMap<string, 'title' | 'created' | 'language' | 'journal' | 'keywords'>
  dropped: ReadonlySet<string>
}

const toSet = (words: string): ReadonlySet<string> => new Set(words.split(' '))
const toMap = (pairs: Record<string, string>): ReadonlyMap<string, string> => new Map(Object.entries(pairs))
const withoutTitle = (words: string): [string, string][] => words.split(' ').map((word) => [word, ''])

/** Tables of HTML and of CALS. */
const TABLES = {
  table: 'table',
  tgroup: 'table',
  tr: 'tr',
  row: 'tr',
  td: 'td',
  th: 'th',
  entry: 'td',
  entrytbl: 'td',
}

/** Journal papers (JATS, NLM) and books (BITS). */
const JATS: PaperVocabulary = {
  sections: new Map([
    ...withoutTitle('sec app book-part body-part sub-article response'),
    ['abstract', 'Abstract'],
    ['trans-abstract', 'Abstract'],
    ['ack', 'Acknowledgements'],
    ['ref-list', 'References'],
    ['fn-group', 'Notes'],
    ['app-group', 'Appendix'],
    ['notes', 'Notes'],
    ['glossary', 'Glossary'],
  ]),
  titles: toSet('title'),
  paragraphs: toSet(
    'p disp-formula label caption fn attrib disp-quote boxed-text statement verse-group term def copyright-statement',
  ),
  html: toMap({ ...TABLES, list: 'ul', 'def-list': 'ul', 'list-item': 'li', 'def-item': 'li' }),
  code: toSet('preformat code'),
  heads: toSet('front front-stub book-meta'),
  references: toSet('ref'),
  captions: toSet('caption table-wrap fig boxed-text statement'),
  facts: new Map([
    ['article-title', 'title'],
    ['book-title', 'title'],
    ['journal-title', 'journal'],
    ['pub-date', 'created'],
    ['kwd', 'keywords'],
  ]),
  dropped: toSet(
    'aff author-notes permissions object-id article-id related-article self-uri custom-meta-group counts history processing-meta floats-index',
  ),
}

/** Texts of the Text Encoding Initiative, which programs that read PDFs also write. */
const TEI: PaperVocabulary = {
  sections: new Map([
    ...withoutTitle('div div1 div2 div3 div4 div5 div6 div7'),
    ['abstract', 'Abstract'],
    ['listBibl', 'References'],
  ]),
  titles: toSet('head'),
  paragraphs: toSet('p ab lg l formula figDesc note opener closer salute signed trailer quote sp speaker stage'),
  html: toMap({ ...TABLES, cell: 'td', list: 'ul', item: 'li' }),
  code: toSet('code eg'),
  heads: toSet('teiHeader'),
  references: toSet('biblStruct bibl'),
  captions: toSet('figure table'),
  facts: new Map([
    ['title', 'title'],
    ['date', 'created'],
    ['language', 'language'],
    ['term', 'keywords'],
  ]),
  dropped: toSet('encodingDesc revisionDesc respStmt publicationStmt idno affiliation email fw'),
}

/** Manuals and books in DocBook 4 and 5. */
const DOCBOOK: PaperVocabulary = {
  sections: new Map([
    ...withoutTitle(
      'part chapter section sect1 sect2 sect3 sect4 sect5 simplesect appendix preface refentry refsect1 refsect2 refsect3 refsection refnamediv reference article topic',
    ),
    ['bibliography', 'Bibliography'],
    ['glossary', 'Glossary'],
    ['abstract', 'Abstract'],
    ['refsynopsisdiv', 'Synopsis'],
    ['colophon', 'Colophon'],
    ['dedication', 'Dedication'],
    ['acknowledgements', 'Acknowledgements'],
  ]),
  titles: toSet('title refname refentrytitle'),
  paragraphs: toSet(
    'para simpara formalpara footnote note tip warning caution important blockquote attribution term glossterm refpurpose question answer member seg equation informalequation subtitle alt textobject bridgehead cmdsynopsis',
  ),
  html: toMap({
    ...TABLES,
    informaltable: 'table',
    itemizedlist: 'ul',
    orderedlist: 'ol',
    procedure: 'ol',
    substeps: 'ol',
    variablelist: 'ul',
    simplelist: 'ul',
    calloutlist: 'ul',
    glosslist: 'ul',
    listitem: 'li',
    step: 'li',
    callout: 'li',
  }),
  code: toSet('programlisting screen literallayout synopsis funcsynopsis'),
  heads: toSet('info articleinfo bookinfo chapterinfo sectioninfo refmeta refentryinfo prefaceinfo appendixinfo'),
  references: toSet('biblioentry bibliomixed'),
  captions: toSet(
    'figure table example informalfigure equation note tip warning caution important sidebar formalpara procedure step itemizedlist orderedlist variablelist',
  ),
  facts: new Map([
    ['title', 'title'],
    ['date', 'created'],
    ['pubdate', 'created'],
    ['keyword', 'keywords'],
  ]),
  dropped: toSet('indexterm imageobject imageobjectco areaspec legalnotice revhistory copyright colspec'),
}

/** E-books in FictionBook 2. */
const FICTION: PaperVocabulary = {
  sections: new Map(withoutTitle('section body')),
  titles: toSet('title subtitle'),
  paragraphs: toSet('p v text-author epigraph cite poem stanza annotation date'),
  html: toMap(TABLES),
  code: toSet(''),
  heads: toSet('description'),
  references: toSet(''),
  captions: toSet(''),
  facts: new Map([
    ['book-title', 'title'],
    ['lang', 'language'],
    ['date', 'created'],
    ['genre', 'keywords'],
  ]),
  dropped: toSet('binary document-info publish-info custom-info stylesheet'),
}

const VOCABULARIES: readonly (readonly [string, PaperVocabulary])[] = [
  ['application/jats+xml', JATS],
  ['application/tei+xml', TEI],
  ['application/docbook+xml', DOCBOOK],
  ['application/x-fictionbook+xml', FICTION],
]

/** The vocabulary of a media type. */
export function getPaperVocabulary(mediaType: string): PaperVocabulary {
  return VOCABULARIES.find(([type]) => type === mediaType)?.[1] ?? DOCBOOK
}
