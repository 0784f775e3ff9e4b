/// The version of this build.
enum Version {
    /// The newest release in CHANGELOG.md, from which `make dist` takes it.
    static let text = "0.1.0"

    /// `git archive`, from which `make dist` builds, replaces this by the commit (gitattributes(5), "export-subst").
    private static let exported = "$Format:%H$"

    /// The first 12 digits of the commit; nil in a development build.
    static var commit: String? { commit(in: exported) }

    /// The text that `--version` prints.
    static var full: String { "\(text) (\(commit.map { "commit " + $0 } ?? "development build"))" }

    static func commit(in exported: String) -> String? {
        exported.hasPrefix("$") ? nil : String(exported.prefix(12))
    }
}
