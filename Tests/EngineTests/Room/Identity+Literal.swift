public import Wire

/// So that a test reads `"ann"` where it means ann.
extension Identity: ExpressibleByStringLiteral {
    public init(stringLiteral text: String) { self.init(text: text) }
}
