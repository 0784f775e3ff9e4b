package import HTTPServer
internal import HTTPTypes
internal import Sockets
package import Store
internal import Wire

/// `/v1/contacts`. Contacts are only stored: no response reveals whether an address has an account.
enum ContactRoutes {
    static func routes(_ store: SessionStore, user: Access<UserID>) -> [Route] {
        [
            Route(
                .get, "/v1/contacts", "Lists the user's contacts in their order; a Link header gives the next page", access: user,
                parameters: [PageQuery.limit, PageQuery.cursor], responses: [.json(.array(of: Contact.schema))]
            ) { request, user in
                let cursor = try request.query("cursor").map { text throws(StoreError) in try NumberCursor(text: text) }
                let limit = PageQuery.limit(of: request)
                let page = try await store.contacts(of: user, after: cursor, limit: limit)
                return try PageQuery.response(page.elements, "/v1/contacts", limit: limit, next: page.next?.text)
            },
            Route(
                .put, "/v1/contacts", "Replaces the user's contacts", access: user, body: ContactList.self,
                responses: [.noContent, .error(.init(code: 507, reasonPhrase: "Insufficient Storage"))]
            ) { _, user, list in
                try await store.setContacts(list.contacts, of: user)
                return .noContent
            },
        ]
    }
}

struct ContactList: Decodable, Sendable, Described {
    var contacts: [Contact]

    static let schema = Schema.named(
        "Contacts", .object([.required("contacts", .array(of: Contact.schema, atMost: StoreLimits.contactsPerUserMax))]))
}

extension Contact: Described {
    package static let schema = Schema.named(
        "Contact", .object([.required("address", .text(3...UserAddress.bytesMax)), .optional("name", .text(0...128))]))
}
