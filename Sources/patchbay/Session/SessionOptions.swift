import ArgumentParser
package import Store

/// The user whose sessions are accessed. Required, so that nobody sees sessions of an unspecified user.
struct SessionOptions: ParsableArguments {
    @Option(help: "The user: an e-mail address or a user id.")
    var user: String
    @OptionGroup var store: StoreOptions

    /// Runs an operation for the user on the open store, then closes the store.
    func with<Answer>(_ body: (SessionStore, UserID) async throws -> Answer) async throws -> Answer {
        let store = try store.openBeside()
        defer { try? store.close() }
        let id: UserID
        do throws(StoreError) {
            if let named = UserID(text: user) { id = try await store.user(named).id } else { id = try await store.user(email: user).id }
        } catch .notFound {
            throw NotThere("there is no user \(user)")
        }
        return try await body(store, id)
    }

    /// A session with its summary and turns, in the user's language and time zone.
    func export(of id: SessionID) async throws -> Export {
        try await with { store, user in
            do throws(StoreError) {
                return Export(try await store.record(of: id, of: user), try await store.user(user).settings)
            } catch .notFound {
                throw NotThere("\(self.user) has no session \(id)")
            }
        }
    }
}

extension SessionID: ExpressibleByArgument {
    package init?(argument: String) { self.init(text: argument) }
}

extension ExportFormat: ExpressibleByArgument {}
