"""Everyday sentences in groups of one topic each: what calibration measures an embedder on.

Sentences of different groups are unrelated. They are written for this purpose and plain on purpose: the same mix of
statements and questions that a chat has.
"""

from typing import Final

TOPICS: Final[tuple[tuple[str, ...], ...]] = (
    (
        "My sister is expecting her first baby in October.",
        "We are painting the nursery a pale yellow.",
        "Did the midwife say everything looks fine?",
        "I am going to be an uncle and I can hardly believe it.",
        "They have not agreed on a name yet.",
    ),
    (
        "The car makes a grinding noise whenever I brake.",
        "The mechanic wants four hundred for new discs.",
        "I had the oil changed two months ago.",
        "Is it safe to drive with worn tyres?",
        "I might just sell it and take the train.",
    ),
    (
        "I have been learning Portuguese for half a year.",
        "The verbs are harder than I expected.",
        "My teacher makes us speak for the whole lesson.",
        "How do you remember so many new words?",
        "Next spring I would like to take the exam.",
    ),
    (
        "The deployment failed because of a missing environment variable.",
        "We rolled back and opened a ticket for the database team.",
        "Could you review my pull request before lunch?",
        "All the integration tests pass on my machine.",
        "The new service uses half as much memory.",
    ),
    (
        "I baked sourdough this morning and the crust came out perfect.",
        "You need to feed the starter twice a day.",
        "Which flour works best for rye bread?",
        "The oven has to be very hot with some steam.",
        "I burnt the last loaf, so this was a relief.",
    ),
    (
        "Our landlord wants to raise the rent by ten percent.",
        "The lease runs out at the end of August.",
        "We looked at a flat near the park with a balcony.",
        "Who pays for the broken heating?",
        "Moving again would cost us a fortune.",
    ),
    (
        "I ran my first half marathon on Sunday.",
        "My knee hurts a little when I climb stairs.",
        "The training plan has four runs a week.",
        "Do you stretch before or after a workout?",
        "I want to finish the next race under two hours.",
    ),
    (
        "Our old cat sleeps on the radiator all winter.",
        "The vet gave us drops for her eyes.",
        "She brought a mouse into the kitchen again.",
        "Do dogs and cats really fight that much?",
        "We adopted her from a shelter eleven years ago.",
    ),
    (
        "The band plays in a small club downtown tonight.",
        "I have been practising the same guitar solo for weeks.",
        "Their second album is so much better than the first.",
        "Can you read sheet music?",
        "We recorded three songs in my basement.",
    ),
    (
        "I could not sleep again and felt anxious all day.",
        "My therapist suggested writing down three good things.",
        "Some evenings the loneliness is hard to bear.",
        "What helps you when everything feels too much?",
        "Talking to an old friend made me feel lighter.",
    ),
    (
        "The flight to Lisbon leaves at six in the morning.",
        "We booked a room with a view of the river.",
        "Should I take a raincoat or will it be sunny?",
        "The visa took longer than the whole holiday.",
        "I lost my suitcase at the airport last time.",
    ),
    (
        "My tomatoes have brown spots on their leaves.",
        "We planted tulips along the fence last autumn.",
        "How often should I water the basil?",
        "The apple tree finally carries fruit this year.",
        "Snails have eaten all of my lettuce.",
    ),
    (
        "The bank declined my application for a mortgage.",
        "I try to put aside two hundred every month.",
        "Are index funds a sensible way to save for retirement?",
        "The tax return is due at the end of May.",
        "Inflation has eaten up my pay rise.",
    ),
    (
        "The exam covers photosynthesis and cell division.",
        "Our biology teacher lost the test papers.",
        "I have to hand in the essay by Friday.",
        "Could you explain what an enzyme does?",
        "The library is full during the exam weeks.",
    ),
)
