/** Commands of LaTeX for signs that formulas contain; others are kept as they are. */
const COMMANDS: ReadonlyMap<string, string> = new Map(
  [
    ...(
      'α alpha β beta γ gamma δ delta ε varepsilon ϵ epsilon ζ zeta η eta θ theta ϑ vartheta ι iota κ kappa λ lambda μ mu ν nu ξ xi π pi ' +
      'ρ rho ϱ varrho σ sigma ς varsigma τ tau υ upsilon φ varphi ϕ phi χ chi ψ psi ω omega Γ Gamma Δ Delta Θ Theta Λ Lambda Ξ Xi Π Pi Σ Sigma ' +
      'Υ Upsilon Φ Phi Ψ Psi Ω Omega ∂ partial ∇ nabla ∞ infty ℏ hbar ℓ ell ℜ Re ℑ Im ℵ aleph ∅ emptyset ∀ forall ∃ exists ¬ neg ' +
      '± pm ∓ mp × times ÷ div ⋅ cdot · cdot ∗ ast ∘ circ • bullet ⊕ oplus ⊗ otimes ∩ cap ∪ cup ∧ wedge ∨ vee ∖ setminus ' +
      '≤ leq ≥ geq ≠ neq ≈ approx ≡ equiv ∼ sim ≃ simeq ≅ cong ∝ propto ≪ ll ≫ gg ∈ in ∉ notin ∋ ni ⊂ subset ⊃ supset ⊆ subseteq ⊇ supseteq ' +
      '∑ sum ∏ prod ∐ coprod ∫ int ∬ iint ∭ iiint ∮ oint ⋃ bigcup ⋂ bigcap ⋁ bigvee ⋀ bigwedge √ surd ' +
      '→ to ← leftarrow ↔ leftrightarrow ⇒ Rightarrow ⇐ Leftarrow ⇔ Leftrightarrow ↦ mapsto ↑ uparrow ↓ downarrow ' +
      '… dots ⋯ cdots ⋮ vdots ⋱ ddots ⟨ langle ⟩ rangle 〈 langle 〉 rangle ⌊ lfloor ⌋ rfloor ⌈ lceil ⌉ rceil ∥ parallel ‖ Vert ∠ angle ⊥ perp ° circ ′ prime'
    ).matchAll(/(\S+) (\S+)/g),
  ].map(([, sign = '', command = '']) => [sign, command]),
)
/** Names of functions that LaTeX has commands for. */
const FUNCTIONS = new Set(
  'sin cos tan cot sec csc sinh cosh tanh coth arcsin arccos arctan log ln lg exp lim sup inf max min det dim gcd ker arg deg Pr hom'.split(
    ' ',
  ),
)
/** Signs above a base, as a formula stores them, and their commands. */
const ACCENTS = new Map([
  ['\u0302', 'hat'],
  ['^', 'hat'],
  ['\u0303', 'tilde'],
  ['~', 'tilde'],
  ['\u0304', 'bar'],
  ['\u0305', 'overline'],
  ['¯', 'bar'],
  ['‾', 'overline'],
  ['\u0307', 'dot'],
  ['˙', 'dot'],
  ['\u0308', 'ddot'],
  ['¨', 'ddot'],
  ['\u030c', 'check'],
  ['\u0306', 'breve'],
  ['\u0301', 'acute'],
  ['\u0300', 'grave'],
  ['\u20d7', 'vec'],
  ['→', 'vec'],
  ['⃗', 'vec'],
  ['⏞', 'overbrace'],
  ['⏟', 'underbrace'],
])

/** The command of a sign above or below a base; undefined for an unknown one. */
export function findAccentCommand(sign: string): string | undefined {
  return ACCENTS.get(sign)
}

/** Escapes a text of a formula for LaTeX, with commands for signs. @param options `isUpright` of words */
export function toLatexText(text: string, { isUpright = false } = {}): string {
  const folded = text.normalize('NFKC')
  if (FUNCTIONS.has(folded.trim())) return `\\${folded.trim()} `
  if (isUpright && /\p{L}{2}/u.test(folded)) return `\\text{${escapeLatex(folded)}}`
  return folded.replace(/\p{L}{2,}|[\s\S]/gu, (part) => {
    if (part.length > 1 && /^\p{L}/u.test(part))
      return FUNCTIONS.has(part) ? `\\${part} ` : /^[A-Za-z]+$/.test(part) ? `\\mathrm{${part}}` : mapSigns(part)
    return mapSigns(part)
  })
}

function mapSigns(text: string): string {
  let latex = ''
  for (const sign of text) {
    const command = COMMANDS.get(sign)
    latex += command === undefined ? escapeLatex(sign) : `\\${command} `
  }
  return latex
}

function escapeLatex(text: string): string {
  return text.replace(/[\\{}#$%&_^~]/g, (sign) => (sign === '\\' ? '\\backslash ' : `\\${sign}`))
}
