internal import Foundation

/// An address of a user: its id, its e-mail address, or the handle that it has chosen.
package enum UserAddress: Sendable, Hashable {
    case id(UserID)
    case email(String)
    /// Without the `@`.
    case handle(String)

    /// The longest address, in bytes.
    package static let bytesMax = 256

    /// `7c0b…`, `ann@example.org` or `@ann`; nil for anything else. Ids are in lower case.
    package init?(text: String) {
        guard 1...Self.bytesMax ~= text.utf8.count else { return nil }
        if text.hasPrefix("@") {
            let handle = String(text.dropFirst())
            guard UserHandle.isValid(handle) else { return nil }
            self = .handle(handle)
        } else if let id = UserID(text: text) {
            guard id.text == text else { return nil }
            self = .id(id)
        } else {
            let parts = text.split(separator: "@", omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else { return nil }
            self = .email(text)
        }
    }

    /// The same for all spellings of an address.
    var normalized: String {
        switch self {
        case .id(let id): id.text
        case .email(let email): email.precomposedStringWithCanonicalMapping.lowercased()
        case .handle(let handle): "@" + handle.lowercased()
        }
    }
}

/// A name that a user chooses, unique in the gateway without regard to case.
package enum UserHandle {
    package static let lengths = 3...32

    package static func isValid(_ text: String) -> Bool {
        lengths ~= text.utf8.count && text.wholeMatch(of: /[A-Za-z0-9][A-Za-z0-9._-]*/) != nil
    }
}

/// Which callers can reach a user.
package enum ReachableBy: String, Sendable, Codable, CaseIterable {
    /// Not even those who know the user's id.
    case nobody
    /// By address, those in the user's contacts; by id, everyone.
    case contacts
    case anyone
}

/// An entry of a user's contacts. It says nothing about whether the address has an account.
package struct Contact: Sendable, Hashable, Codable {
    /// A `UserAddress`, as given.
    package var address: String
    /// The user's own name for it.
    package var name: String?

    package init(address: String, name: String? = nil) {
        self.address = address
        self.name = name
    }
}
