/** A small file of each text format, by name. */
export const SAMPLES: Record<string, string> = {
  'paper.tex': String.raw`\documentclass{article}
\newcommand{\ours}{TinNet\xspace}
\title{On Tin\thanks{Funded.}}
\author{Ann Lee \and Bob M\"uller}
\date{May 2024}
\begin{document}
\maketitle
\begin{abstract}
We study \emph{tin}. % not this
\end{abstract}
\section{Method}\label{sec:m}
\ours is fast~\cite{lee20}, see $E = mc^2$\footnote{A note.} and caf\'e.
\begin{equation} a = b + c \label{eq:x} \end{equation}
\begin{itemize}
\item first \textbf{thing}
\item second
\end{itemize}
\subsection{Data}
\begin{table}[h]
\caption{Prices}
\begin{tabular}{l|r}
\hline Metal & Price \\ \hline
Tin & 4.5 \\
Lead & \multicolumn{1}{c}{2} \\
\end{tabular}
\end{table}
\begin{lstlisting}[language=Python]
print("x") # 1
\end{lstlisting}
\input{chapters/end}
\begin{thebibliography}{9}
\bibitem{lee20} Lee, A.: Tin. 2020.
\end{thebibliography}
\end{document}
after the end`,
  'guide.adoc': `= Guide to Tin
Ann Lee <ann@example.org>
v1.2, 2024-05-01
:lang: en
:product: TinDB

== Install

Get {product} from https://example.org[the site]. It is *fast* and _small_.

* one
** deeper
* two

.Prices
[options="header"]
|===
|Metal |Price
|Tin |4.5
|Lead
|2
|===

[source,bash]
----
apt install tin <1>
----

NOTE: Keep dry.

=== Details
include::more.adoc[]
term:: what it means
`,
  'Tin.mediawiki': `{{Infobox metal
| name = Tin
| melting point = 231 {{nowrap|°C}}
}}
'''Tin''' is a [[chemical element|element]].<ref>Book, p. 3</ref> {{citation needed}}

== Uses ==
* [[Solder]]
** soft
# first
{| class="wikitable"
|+ Prices
! Year !! Price
|-
| 2020 || style="x" | 4.5
|}
<syntaxhighlight lang="python">
print("tin")
</syntaxhighlight>
[[Category:Metals]]
[[File:Tin.jpg|thumb|A bar of tin]]
`,
  'dump.xml': `<mediawiki xml:lang="en"><siteinfo><sitename>Metals</sitename></siteinfo>
<page><title>Tin</title><ns>0</ns><revision><text>Tin melts.

== Uses ==
Solder.</text></revision></page>
<page><title>Sn</title><redirect title="Tin"/><revision><text>#REDIRECT [[Tin]]</text></revision></page>
<page><title>Lead</title><revision><text>Lead is heavy.</text></revision></page></mediawiki>`,
  'talk.vtt': `WEBVTT

NOTE made by hand

1
00:00:01.000 --> 00:00:03.000
<v Ann>Hello <i>all</i>.

00:00:03.500 --> 00:00:05.000
Today we speak of tin.

00:02:10.000 --> 00:02:12.000
And now of lead.
`,
  'talk.srt': `1
00:00:01,000 --> 00:00:02,500
Hello all.

2
00:00:20,000 --> 00:00:22,000
{\\an8}After a pause.
`,
  'team.ics': `BEGIN:VCALENDAR
X-WR-CALNAME:Team
BEGIN:VTIMEZONE
TZID:Europe/Berlin
END:VTIMEZONE
BEGIN:VEVENT
SUMMARY:Review of tin\\, and
  lead
DTSTART;TZID=Europe/Berlin:20240501T143000
DTEND:20240501T153000Z
LOCATION:Room 5
ORGANIZER;CN="Ann: Lee":mailto:ann@example.org
ATTENDEE;CN=Bob:mailto:bob@example.org
ATTENDEE:mailto:eve@example.org
RRULE:FREQ=WEEKLY;COUNT=3
DESCRIPTION:Bring samples.\\nAnd a scale.
BEGIN:VALARM
DESCRIPTION:alarm words
END:VALARM
END:VEVENT
BEGIN:VTODO
SUMMARY:Buy tin
DUE;VALUE=DATE:20240601
END:VTODO
END:VCALENDAR
`,
  'people.vcf': `BEGIN:VCARD
VERSION:3.0
FN:Ann Lee
N:Lee;Ann;;Dr.;
ORG:Tin Works;Research
TEL;TYPE=work,voice:+49 30 1234
item1.EMAIL:ann@example.org
ADR;TYPE=HOME:;;Main St. 1;Berlin;;10115;Germany
PHOTO;ENCODING=b:AAAA
NOTE:Knows tin.
END:VCARD
BEGIN:VCARD
VERSION:2.1
FN;ENCODING=QUOTED-PRINTABLE:J=C3=BCrgen=
 =20Klein
TEL;CELL:123
END:VCARD
`,
  'paper.nxml': `<?xml version="1.0"?><!DOCTYPE article PUBLIC "-//NLM//DTD JATS (Z39.96)//EN" "JATS.dtd">
<article xml:lang="en" xmlns:xlink="x"><front><journal-meta><journal-title>J. Metals</journal-title></journal-meta>
<article-meta><article-id>10.1/x</article-id><title-group><article-title>On <italic>Tin</italic></article-title></title-group>
<contrib-group><contrib contrib-type="author"><name><surname>Lee</surname><given-names>Ann</given-names></name></contrib></contrib-group>
<pub-date><day>2</day><month>5</month><year>2024</year></pub-date>
<abstract><p>We study tin.</p></abstract><kwd-group><kwd>tin</kwd><kwd>metal</kwd></kwd-group></article-meta></front>
<body><sec><title>Method</title><p>We melt it.</p><sec><title>Data</title>
<table-wrap><label>Table 1</label><caption><title>Prices</title></caption><table><thead><tr><th>Metal</th><th>Price</th></tr></thead>
<tbody><tr><td>Tin</td><td>4.5</td></tr></tbody></table></table-wrap></sec></sec></body>
<back><ref-list><ref id="r1"><label>1</label><element-citation><name><surname>Kim</surname></name><article-title>Lead</article-title><year>2019</year></element-citation></ref></ref-list></back></article>`,
  'paper.tei': `<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><fileDesc><titleStmt><title>On Tin</title></titleStmt>
<sourceDesc><biblStruct><analytic><author><persName><forename>Ann</forename><surname>Lee</surname></persName></author></analytic></biblStruct></sourceDesc></fileDesc>
<profileDesc><abstract><p>We study tin.</p></abstract></profileDesc></teiHeader>
<text xml:lang="en"><body><div><head>Method</head><p>We melt it.</p><list><item>one</item><item>two</item></list></div></body></text></TEI>`,
  'manual.xml': `<?xml version="1.0"?><book xmlns="http://docbook.org/ns/docbook" xml:lang="en"><info><title>Manual of Tin</title>
<author><personname><firstname>Ann</firstname><surname>Lee</surname></personname></author><date>2024-05-01</date></info>
<chapter><title>Install</title><para>Run <command>tin</command>.</para>
<itemizedlist><listitem><para>one</para></listitem><listitem><para>two</para></listitem></itemizedlist>
<section><title>Options</title><programlisting language="bash">tin --all
  more</programlisting>
<table><title>Flags</title><tgroup cols="2"><thead><row><entry>Flag</entry><entry>Sense</entry></row></thead>
<tbody><row><entry>-a</entry><entry>all</entry></row></tbody></tgroup></table></section></chapter></book>`,
  'feeds.opml': `<?xml version="1.0"?><opml version="2.0"><head><title>Feeds</title><ownerName>Ann</ownerName></head><body>
<outline text="News"><outline text="Metal Daily" xmlUrl="https://example.org/feed"/><outline text="Tin"/></outline>
<outline text="Alone"/></body></opml>`,
  'tin.1': `.\\" comment
.TH TIN 1 "2024-05-01" "Tin 1.0"
.SH NAME
tin \\- melts \\fBmetals\\fP
.SH OPTIONS
.TP
.B \\-a
melt all
.PP
Then wait.
.nf
tin -a
  now
.fi
.TS
l l.
Metal\tPrice
Tin\t4.5
.TE
`,
  'shop.sql': `-- MySQL dump
SET NAMES utf8;
CREATE TABLE \`metals\` (
  \`id\` int NOT NULL,
  \`name\` varchar(20) DEFAULT 'a,b',
  \`price\` decimal(5,2),
  PRIMARY KEY (\`id\`)
);
INSERT INTO \`metals\` VALUES (1,'Tin; soft',4.5),(2,'It''s \\'lead\\'',NULL);
COPY public.people (name, age) FROM stdin;
Ann\t31
Bob\t\\N
\\.
CREATE FUNCTION f() RETURNS int AS $$ SELECT 1; $$ LANGUAGE sql;
`,
  'app.log': `2024-05-01 10:00:01 INFO start
2024-05-01 10:30:00 ERROR failed
  at line 3
2024-05-01 11:00:00 INFO again
2024-05-01 11:05:00 INFO stop
`,
  'settings.toml': `title = "x"

# the server
[server]
port = 80
text = """
[not a section]
"""

[server.tls]
on = true
`,
  'refs.bib': `@article{lee20,
  title = {On {Tin}},
  author = {Lee, Ann and M{\\"u}ller, Bob},
  year = 2020
}
@comment{no}
@book{kim19, title="Lead", publisher = "X, Y"}
`,
  'store.py': `"""Store of metals."""
import os

LIMIT = 10


class Store:
    """
    def not_this():
    """

    def __init__(self, path):
        self.path = path
        self.items = []
        self.open = False
        self.count = 0
        self.names = {}
        self.more = None

    @property
    def size(self):
        def inner():
            return 1
        for item in self.items:
            if item:
                yield item
            else:
                pass
        return len(self.items)


async def main():
    store = Store("x")
    print(store.size)
    print(store.size)
    print(store.size)
    print(store.size)
    print(store.size)
    print(store.size)
`,
  'analysis.ipynb': JSON.stringify({
    nbformat: 4,
    metadata: { language_info: { name: 'python' }, title: 'Analysis' },
    cells: [
      { cell_type: 'markdown', source: ['# Tin\n', '\n', 'We *look* at it.'] },
      {
        cell_type: 'code',
        source: 'print(1)\n',
        outputs: [
          { output_type: 'stream', text: ['1\n', `${'x'.repeat(9000)}`] },
          { output_type: 'display_data', data: { 'image/png': 'iVBORw0KGgo=', 'text/plain': '<Figure size 1x1>' } },
          {
            output_type: 'execute_result',
            data: { 'text/html': '<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>' },
          },
          { output_type: 'error', ename: 'ValueError', evalue: 'bad', traceback: ['\u001b[31mlong'] },
        ],
      },
    ],
  }),
  'flat.fodt': `<?xml version="1.0"?><office:document office:mimetype="application/vnd.oasis.opendocument.text">
<office:meta><dc:title>Flat tin</dc:title></office:meta><office:body><office:text><text:h text:outline-level="1">Top</text:h>
<text:p>Words of <text:ruby><text:ruby-base>漢字</text:ruby-base><text:ruby-text>かんじ</text:ruby-text></text:ruby>.<draw:frame><draw:image><office:binary-data>iVBORw0KGgo=</office:binary-data></draw:image></draw:frame></text:p>
</office:text></office:body></office:document>`,
}
