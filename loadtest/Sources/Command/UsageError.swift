/// Something that the one who called us has to put right: one line, and exit code 2.
struct UsageError: Error, Hashable, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
