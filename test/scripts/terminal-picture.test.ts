import { expect, it } from 'vitest'
import { renderTerminal } from '../../scripts/terminal-svg.js'

const draw = (text: string) => renderTerminal(text, { columns: 20, title: 'ks <in> a terminal' })

it('a picture of a terminal has one line of text for each row, with its colours', () => {
  const svg = draw('\u001b[32m$\u001b[0m \u001b[1mks docs\u001b[0m\n\n\u001b[31mred\nstays\u001b[39m plain\n')
  expect(svg.match(/<text /g)).toHaveLength(3)
  expect(svg).toContain('<tspan fill="#98c379">$</tspan><tspan> </tspan><tspan font-weight="bold">ks docs</tspan>')
  expect(svg).toContain('<tspan fill="#e06c75">stays</tspan><tspan> plain</tspan>')
})

it('a picture of a terminal escapes markup and shows links as their text', () => {
  const svg = draw('a < b & "c" \u001b]8;;https://kb.example.com\u001b\\link\u001b]8;;\u001b\\')
  expect(svg).toContain('<tspan>a &lt; b &amp; &quot;c&quot; link</tspan>')
  expect(svg).toContain('aria-label="ks &lt;in&gt; a terminal"')
})
