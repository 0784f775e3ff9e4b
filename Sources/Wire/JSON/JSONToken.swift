/// One value, or one member's name, in the flat array that a text is read into.
///
/// A container's token is followed by those of its content: in an array one value after another, in an object name, value, name, value.
struct JSONToken {
    enum Kind: UInt8 {
        case object, array, number, `true`, `false`, null
        /// Text without escapes: its bytes are its value.
        case plainText
        case escapedText
    }

    var kind: Kind
    /// Where its bytes begin; a text's, behind the quote.
    var start: UInt32
    /// Where its bytes end; a text's, before the quote.
    var end: UInt32
    /// The token behind this one and all that is in it.
    var next: UInt32

    var bytes: Range<Int> { Int(start)..<Int(end) }
}
