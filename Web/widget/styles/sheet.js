// Style sheets as modules: they come with the script, so that a widget that is not wanted yet requests nothing, and a page's policy for styles
// does not concern them.

export function css([text]) {
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(text)
  return sheet
}
