/// Language tags (BCP 47), such as `en` and `de-AT`.
package enum LanguageTag {
    /// In bytes.
    package static let bytesMax = 35

    /// Whether a text has the form of a tag. Its subtags need not be registered.
    package static func isValid(_ text: String) -> Bool {
        text.utf8.count <= bytesMax && text.wholeMatch(of: /[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*/) != nil
    }
}
