import Foundation
import Identity
import Store
import Testing
import Wire

struct AssistantTests {
    let world: StoreWorld
    var store: Store { world.store }

    init() throws { world = try StoreWorld() }

    @Test func aDefinitionIsReplacedAndDeletedByItsId() async throws {
        var shop = AssistantDefinition(id: "shop", instructions: "Sell books.", tools: [AssistantTool(name: "t", url: "https://t.example")])
        try await store.assistants.save(AssistantDefinition(id: "zoo"), at: world.now)
        try await store.assistants.save(shop, at: world.now)
        #expect(try await store.assistants.list() == [shop, AssistantDefinition(id: "zoo")])
        shop.instructions = "Sell more books."
        try await store.assistants.save(shop, at: world.now + .seconds(1))
        #expect(try await store.assistants.list() == [shop, AssistantDefinition(id: "zoo")])
        try await store.assistants.delete("shop")
        #expect(try await store.assistants.list() == [AssistantDefinition(id: "zoo")])
        await #expect(throws: StoreError.notFound) { try await store.assistants.delete("shop") }
        #expect(try await store.verify().problems == [])
    }

    @Test func definitionsSurviveARestartAndAreEncrypted() async throws {
        let shop = AssistantDefinition(id: "shop", instructions: "Sell rare books only.")
        try await store.assistants.save(shop, at: world.now)
        try store.close()
        #expect(try world.files(with: "rare books".utf8) == [])
        let reopened = try world.reopen()
        #expect(try await reopened.assistants.list() == [shop])
        try reopened.close()
    }

    @Test func aDefinitionMovedToAnotherIdIsDamage() async throws {
        try await store.assistants.save(AssistantDefinition(id: "shop"), at: world.now)
        try world.tamper("UPDATE assistants SET id = 'zoo'")
        await #expect(throws: StoreError.damaged(location: "assistants.definition.zoo")) { try await store.assistants.list() }
        #expect(try await store.verify().problems.count == 1)
    }

    @Test func definitionsBeyondTheLimitAreRefused() async throws {
        // At once, so that they share commits.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<StoreLimits.assistantsMax {
                group.addTask { try await store.assistants.save(AssistantDefinition(id: "a\(number)"), at: world.now) }
            }
            try await group.waitForAll()
        }
        await #expect(throws: StoreError.self) { try await store.assistants.save(AssistantDefinition(id: "one-more"), at: world.now) }
        try await store.assistants.save(AssistantDefinition(id: "a1", name: "Replaced"), at: world.now)
    }
}
