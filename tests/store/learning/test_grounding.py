"""What a model says is held against what was said: words, numbers, names, accents, language, and what was not meant."""

import pytest

from store.learning.grounding import Ground, best, open_ended

HOLDS = [
    ("Trabajo en una fintech, somos 5 en el equipo.", "Trabaja en una fintech"),
    ("Trabajo en una fintech, somos 5 en el equipo.", "El equipo es de 5 personas"),
    ("Trabajo en una fintech, somos cinco en el equipo.", "Son 5 en el equipo"),
    ("I work at Acme, we are five in the team.", "Works at Acme"),
    ("Mi hija Julieta tiene alergia al maní.", "Su hija Julieta tiene alergia al maní"),
    ("No usamos Redis, usamos Memcached.", "No usa Redis"),
    ("No usamos Redis, usamos Memcached.", "Usan Memcached"),
    ("Usamos SQLite en vez de Postgres.", "Usan SQLite"),
    ("We went with SQLite rather than Postgres.", "We went with SQLite"),
    ("Pensamos en Kubernetes, pero vamos con Docker Compose.", "Vamos con Docker Compose"),
    ("Descartamos Kafka por el costo.", "Descartaron Kafka por el costo"),
    ("A partir de hoy los deploys van los jueves.", "Los deploys van los jueves"),
    ("El pan sale a las cinco de la mañana.", "El pan sale a las cinco de la mañana"),
    ("Ya no como carne.", "Ya no come carne"),
    ("The staging server is called zeus-02.", "Staging server: zeus-02"),
    ("Uso Neovim y no me llevo con los IDE.", "Usa Neovim"),
    ("Uso Neovim y no me llevo con los IDE.", "No se lleva con los IDE"),
    ("Podríamos usar Redis para la cola.", "Podrían usar Redis para la cola"),
    ("We chose SQLite over Postgres.", "They chose SQLite over Postgres"),
    ("Usamos SQLite en vez de Postgres.", "En vez de Postgres, usan SQLite"),
    ("Migramos de MySQL a Postgres en marzo.", "Migraron a Postgres en marzo"),
    ("Ana, Luis y Pedro trabajan en Acme.", "Luis trabaja en Acme"),
    ("Ana vive en Salto y trabaja en Minas.", "Ana trabaja en Minas"),
    ("The API runs on 8080 and the database on 5432.", "The database runs on 5432"),
    ("El liceo tiene 9 aulas y 200 alumnos.", "El liceo tiene 200 alumnos"),
    ("Trabajo en Acme desde 2019, somos 5 en el equipo.", "El equipo es de 5 personas"),
    ("La API es pública y el panel no es público.", "La API es pública"),
    ("La API es pública y el panel no es público.", "El panel no es público"),
    ("No me gustan los tabs y las líneas largas.", "No le gustan los tabs y las líneas largas"),
    ("Los viernes no hacemos deploys.", "No hacen deploys los viernes"),
    ("I like tea more than coffee.", "Likes tea more than coffee"),
]
FALLS = [
    ("Hola, ¿qué tal?", "La persona se llama Hola", "what nobody said"),
    ("Trabajo en una fintech.", "Works in a fintech company", "another language"),
    ("Soy alérgico al maní.", "Is allergic to peanuts (maní)", "another language"),
    ("I work in a fintech.", "Trabaja en una fintech", "another language"),
    ("El deploy de staging usa Docker.", "The deploy of staging uses Docker", "another language, and the same words"),
    ("Usamos tabs en el código viejo.", "No usan tabs en el código viejo", "a denial in a long sentence"),
    ("Somos 5 en el equipo.", "El equipo tiene 50 personas", "another number"),
    ("Somos cinco en el equipo.", "El equipo tiene 6 personas", "another number, in words"),
    ("La reunión es el martes.", "La reunión es el jueves", "another day"),
    ("We deploy with Ansible.", "We deploy with Ansible and Terraform", "another name beside it"),
    ("Uso Java en el trabajo.", "Usa JavaScript en el trabajo", "a longer name"),
    ("No usamos Redis, usamos Memcached.", "Usan Redis", "the denial is gone"),
    ("I don't like tabs.", "Likes tabs", "the denial is gone"),
    ("Usamos tabs.", "No usan tabs", "a denial that nobody said"),
    ("Elegimos SQLite en vez de Postgres.", "Eligieron Postgres", "the option that was not taken"),
    ("We went with SQLite rather than Postgres.", "We went with Postgres", "the option that was not taken"),
    ("Pensamos en Kubernetes, pero vamos con Docker Compose.", "Usan Kubernetes", "only weighed"),
    ("We considered Kafka, but RabbitMQ is enough.", "They use Kafka", "only weighed"),
    ("Podríamos usar Redis para la cola.", "Usan Redis para la cola", "only weighed"),
    ("Descartamos Kafka por el costo.", "Usan Kafka", "left"),
    ("Dejé de fumar.", "Fuma", "it ended"),
    ("Usamos SQLite y no Postgres.", "Usan Postgres", "the option that was not taken"),
    ("We looked at Pulumi; Terraform won.", "They use Pulumi", "only weighed"),
    ("Si usamos Redis, el costo sube.", "Usan Redis", "supposed"),
    ("Hoy el build tardó 20 minutos.", "El build tarda 20 minutos", "of the moment"),
    ("Estoy cansado del proyecto.", "Está cansado del proyecto", "a feeling"),
    ("We chose SQLite over Postgres.", "We chose Postgres over SQLite", "they changed places"),
    ("elegimos sqlite en vez de postgres", "Eligieron postgres en vez de sqlite", "they changed places"),
    ("Usamos SQLite en vez de Postgres.", "En vez de SQLite, usan Postgres", "they changed places"),
    ("Use SQLite and Postgres.", "Use SQLite over Postgres", "neither was left"),
    ("Ana reports to Luis.", "Luis reports to Ana", "they changed places"),
    ("Marta dirige a Pedro y Pedro dirige a Juan.", "Juan dirige a Pedro", "they changed places"),
    (
        "The API runs on 8080 and the database on 5432.",
        "The API runs on 5432 and the database on 8080",
        "changed places",
    ),
    (
        "The API runs on 8080 and the database on 5432.",
        "The database runs on 8080 and the API on 5432",
        "changed places",
    ),
    ("El backend corre en el 8080 y el frontend en el 3000.", "El backend corre en el 3000", "the other's number"),
    ("Las reuniones son los martes y los deploys los jueves.", "Los deploys son los martes", "the other's day"),
    ("Migramos de MySQL a Postgres en marzo.", "Migramos de Postgres a MySQL en marzo", "the other way"),
    ("we moved from vim to emacs", "They moved from emacs to vim", "the other way"),
    ("Reemplazamos jenkins con drone.", "Reemplazaron drone con jenkins", "the other way"),
    ("I like tea more than coffee.", "Likes coffee more than tea", "the other way"),
    ("I prefer tabs to spaces.", "Prefers spaces to tabs", "the other way"),
    ("we moved from vim to emacs in spring", "They moved from emacs to vim in spring", "the other way"),
    ("Movimos Redis de Salto a Minas en otoño.", "Movieron Redis de Minas a Salto en otoño", "the other way"),
    ("Tests run before deploys.", "Deploys run before tests", "the other way"),
    ("Bob owns billing and Alice owns search.", "Alice owns billing", "what the other owns"),
    ("La API es pública; el panel no es público.", "La API no es pública; el panel es público", "the denial moved"),
    ("La API es pública; el panel no es público.", "La API no es pública", "the denial moved"),
    ("La API es pública y el panel no es público.", "La API no es pública y el panel es público", "the denial moved"),
    ("The api needs a token and the panel doesn't.", "The api doesn't need a token and the panel does", "moved"),
    ("Redis and Kafka are not used.", "Redis is used", "the denial is gone"),
    ("Si usamos Redis y Kafka no escala, perdemos.", "Kafka no escala", "supposed"),
    ("Me llamo Ana.", "", "nothing"),
    ("Me llamo Ana.", "Es la persona", "nothing that tells anything"),
]


@pytest.mark.parametrize(("said", "told"), HOLDS)
def test_what_was_said_may_be_told_in_other_forms_of_its_words(said: str, told: str) -> None:
    assert Ground(said).holds(told)


@pytest.mark.parametrize(("said", "told", "why"), FALLS)
def test_what_was_not_said_is_not_told(said: str, told: str, why: str) -> None:
    assert not Ground(said).holds(told), why


def test_an_accent_that_a_model_lost_is_given_back() -> None:
    ground = Ground("Soy alérgico al maní y vivo en Córdoba.")
    assert ground.mended("Alergico al mani, vive en Cordoba") == "Alérgico al maní, vive en Córdoba"
    assert ground.mended("VIVE en Córdoba") == "VIVE en Córdoba"


def test_what_is_told_belongs_to_the_sentence_it_rests_on() -> None:
    grounds = [Ground("Trabajo en una fintech."), Ground("No como carne.")]
    assert best("No come carne", grounds) == 1
    assert best("No come carne", grounds, 0) == 1, "whatever number the model gives"
    assert best("No come pescado", grounds, 1) is None
    assert best("Trabaja en una fintech", grounds, 99) == 0


def test_what_is_weighed_or_the_end_of_a_sentence_is_no_fact_of_its_own() -> None:
    assert all(
        map(open_ended, ("Estuvimos evaluando Kafka", "Looked at Pulumi", "Porque es más simple", "Si usan Redis"))
    )
    assert not any(map(open_ended, ("Nos quedamos con RabbitMQ", "Terraform won because ops knows it")))


def test_what_stands_beside_the_moment_is_of_the_moment() -> None:
    assert Ground("Hoy estoy muerto, dormí cuatro horas.").tells_for_now()
    assert not Ground("A partir de hoy los deploys van los jueves.").tells_for_now()
