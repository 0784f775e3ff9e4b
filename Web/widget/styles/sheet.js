// Style sheets as modules: they come with the script, so that a widget that is not wanted yet requests nothing, and a page's policy for styles
// does not concern them.

/**
 * A style sheet; null on servers, which load the modules and show nothing.
 *
 * @param {TemplateStringsArray} text without values
 */
export function css(text) {
  if (typeof CSSStyleSheet === 'undefined') return null
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(text[0])
  return sheet
}
