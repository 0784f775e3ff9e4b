import Identity
import OutgoingHTTP
import Store
import Testing

@Suite("WebhookDelivery", .timeLimit(.minutes(1)))
struct WebhookDeliveryTests {
    private static let a = "https://a.example/hook"
    private static let b = "https://b.example/hook"

    @Test("delivers each event once, in its lane's order")
    func order() async {
        let world = SimulatedWebhooks()
        for id in 0..<60 { world.put(Int64(id), to: Self.a, lane: "room \(id % 3)") }
        await world.delivering(to: [Self.a]) { world in
            await world.wait { world.delivered(to: Self.a).count == 60 }
        }
        let delivered = world.delivered(to: Self.a)
        #expect(world.requests.count == 60)
        for lane in 0..<3 {
            let own = delivered.filter { $0 % 3 == lane }
            #expect(own == own.sorted())
        }
    }

    @Test("signs requests, with LiveKit's content type")
    func signature() async throws {
        let world = SimulatedWebhooks()
        world.put(7, to: Self.a, lane: "den")
        await world.delivering(to: [Self.a]) { world in await world.wait { world.delivered(to: Self.a) == [7] } }
        let request = try #require(world.requests.first)
        #expect(request.headers.contains(OutgoingHeader("content-type", "application/webhook+json")))
        let token = try #require(request.headers.first { $0.name == "authorization" }).value
        #expect(BodySignature.isValid(token, for: request.body, at: 0, key: SimulatedWebhooks.key))
    }

    @Test("retries a failed webhook before later ones of its lane", arguments: [500, 404, 301, 429])
    func retries(_ status: Int) async {
        let world = SimulatedWebhooks()
        world.answer(Self.a, with: status)
        world.put(1, to: Self.a, lane: "den")
        world.put(2, to: Self.a, lane: "den")
        await world.delivering(to: [Self.a]) { world in
            await world.wait { world.retries == 1 }
            world.answer(Self.a, with: 200)
            world.advance(by: .seconds(1))
            await world.wait { world.delivered(to: Self.a).count == 2 }
        }
        #expect(world.requests.map { String(decoding: $0.body, as: UTF8.self) } == ["1", "1", "2"])
    }

    @Test("continues with other endpoints while one does not answer")
    func hangingEndpoint() async {
        let world = SimulatedWebhooks()
        world.answer(Self.a, with: SimulatedWebhooks.hang)
        for id in 0..<100 {
            world.put(Int64(id), to: Self.a, lane: "room \(id)")
            world.put(Int64(1_000 + id), to: Self.b, lane: "room \(id)")
        }
        await world.delivering(to: [Self.a, Self.b]) { world in
            await world.wait { world.delivered(to: Self.b).count == 100 }
        }
        #expect(world.inFlightMost(at: Self.a) <= 8)
        #expect(world.delivered(to: Self.a).isEmpty)
    }

    @Test("backs off from a dead endpoint, however many lanes it has")
    func deadEndpoint() async {
        let world = SimulatedWebhooks()
        world.answer(Self.a, with: 503)
        for id in 0..<200 { world.put(Int64(id), to: Self.a, lane: "room \(id)") }
        for id in 0..<50 { world.put(Int64(1_000 + id), to: Self.b, lane: "den") }
        await world.delivering(to: [Self.a, Self.b]) { world in
            await world.wait { world.delivered(to: Self.b).count == 50 }
            #expect(world.requests.filter { $0.url == Self.a }.count <= 16)
            world.answer(Self.a, with: 200)
            await world.wait {
                // Whatever failed until now is due again a second later.
                world.advance(by: .seconds(1))
                return world.delivered(to: Self.a).count == 200
            }
        }
    }

    @Test("gives up after a day")
    func givesUp() async {
        let world = SimulatedWebhooks()
        world.put(1, to: Self.a, lane: "den")
        world.answer(Self.a, with: 500)
        world.advance(by: .seconds(24 * 3_600))
        await world.delivering(to: [Self.a]) { world in await world.wait { world.givenUp == [1] } }
        #expect(world.requests.count == 1)
    }

    @Test("drops a webhook answered with 410 at once, and continues")
    func gone() async {
        let world = SimulatedWebhooks()
        world.put(1, to: Self.a, lane: "den")
        world.answer(Self.a, with: 410)
        await world.delivering(to: [Self.a]) { world in
            await world.wait { world.givenUp == [1] }
            world.answer(Self.a, with: 200)
            world.put(2, to: Self.a, lane: "den")
            await world.wait { world.delivered(to: Self.a) == [2] }
        }
    }

    @Test("retries after the store could not be read")
    func storeFails() async {
        let world = SimulatedWebhooks()
        world.failStore(times: 3)
        world.put(1, to: Self.a, lane: "den")
        await world.delivering(to: [Self.a]) { world in await world.wait { world.delivered(to: Self.a) == [1] } }
    }
}
